using System.Runtime.InteropServices;

namespace Measurements.Transfers;

/// <summary>The CUDA driver could not do what it was asked; the message says which call failed, and with what.</summary>
internal sealed class CudaException(string message) : Exception(message);

/// <summary>
/// The few functions of the CUDA driver API that a copy to a device takes, with the signatures of <c>cuda.h</c>. Names that end in
/// <c>_v2</c>
/// are what the header's macros stand for: the plain names are older functions with other parameters.
/// </summary>
/// <remarks>
/// CUresult, CUdevice and int are 32 bits, CUdeviceptr and size_t 64, CUcontext a pointer; the program is for 64-bit processes.
/// </remarks>
internal static unsafe partial class CudaFunctions
{
    private const string Driver = "cuda driver";

    /// <summary>Loads the driver's library: <paramref name="name"/>, or the system's own where that is null.</summary>
    /// <exception cref="CudaException">There is none.</exception>
    public static void Load(string? name)
    {
        if (!Environment.Is64BitProcess)
        {
            throw new CudaException("this is a 32-bit process, and the signatures used here are for 64 bits");
        }

        name ??= OperatingSystem.IsWindows() ? "nvcuda.dll" : "libcuda.so.1";
        if (!NativeLibrary.TryLoad(name, out nint library))
        {
            throw new CudaException($"{name}, the library of the CUDA driver, cannot be loaded");
        }

        NativeLibrary.SetDllImportResolver(typeof(CudaFunctions).Assembly, (wanted, _, _) => wanted == Driver ? library : 0);
    }

    /// <summary>Throws where <paramref name="result"/>, which <paramref name="call"/> returned, is not success.</summary>
    /// <exception cref="CudaException">It is an error; the message has its number, its name and the driver's description.</exception>
    public static void Check(int result, string call)
    {
        if (result != 0)
        {
            byte* name = null;
            byte* text = null;
            _ = GetErrorName(result, &name);
            _ = GetErrorString(result, &text);
            throw new CudaException(
                $"{call} failed with {result}, {Marshal.PtrToStringUTF8((nint)name)}: {Marshal.PtrToStringUTF8((nint)text)}");
        }
    }

    [LibraryImport(Driver, EntryPoint = "cuInit")]
    public static partial int Init(uint flags);

    [LibraryImport(Driver, EntryPoint = "cuDriverGetVersion")]
    public static partial int DriverGetVersion(int* version);

    [LibraryImport(Driver, EntryPoint = "cuDeviceGetCount")]
    public static partial int DeviceGetCount(int* count);

    [LibraryImport(Driver, EntryPoint = "cuDeviceGet")]
    public static partial int DeviceGet(int* device, int ordinal);

    [LibraryImport(Driver, EntryPoint = "cuDeviceGetName")]
    public static partial int DeviceGetName(byte* name, int length, int device);

    [LibraryImport(Driver, EntryPoint = "cuDevicePrimaryCtxRetain")]
    public static partial int DevicePrimaryCtxRetain(nint* context, int device);

    [LibraryImport(Driver, EntryPoint = "cuDevicePrimaryCtxRelease_v2")]
    public static partial int DevicePrimaryCtxRelease(int device);

    [LibraryImport(Driver, EntryPoint = "cuCtxSetCurrent")]
    public static partial int CtxSetCurrent(nint context);

    [LibraryImport(Driver, EntryPoint = "cuCtxSynchronize")]
    public static partial int CtxSynchronize();

    [LibraryImport(Driver, EntryPoint = "cuMemAlloc_v2")]
    public static partial int MemAlloc(ulong* address, nuint bytes);

    [LibraryImport(Driver, EntryPoint = "cuMemFree_v2")]
    public static partial int MemFree(ulong address);

    [LibraryImport(Driver, EntryPoint = "cuMemcpyHtoD_v2")]
    public static partial int MemcpyHtoD(ulong to, void* from, nuint bytes);

    [LibraryImport(Driver, EntryPoint = "cuMemcpyDtoH_v2")]
    public static partial int MemcpyDtoH(void* to, ulong from, nuint bytes);

    [LibraryImport(Driver, EntryPoint = "cuMemHostAlloc")]
    public static partial int MemHostAlloc(void** address, nuint bytes, uint flags);

    [LibraryImport(Driver, EntryPoint = "cuMemFreeHost")]
    public static partial int MemFreeHost(void* address);

    [LibraryImport(Driver, EntryPoint = "cuMemHostRegister_v2")]
    public static partial int MemHostRegister(void* address, nuint bytes, uint flags);

    [LibraryImport(Driver, EntryPoint = "cuMemHostUnregister")]
    public static partial int MemHostUnregister(void* address);

    [LibraryImport(Driver, EntryPoint = "cuGetErrorName")]
    private static partial int GetErrorName(int error, byte** name);

    [LibraryImport(Driver, EntryPoint = "cuGetErrorString")]
    private static partial int GetErrorString(int error, byte** text);
}
