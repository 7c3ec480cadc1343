using Cuda = Measurements.Transfers.CudaFunctions;

namespace Measurements.Transfers;

/// <summary>The first CUDA device, with its context current on the calling thread, which is the one that uses and disposes it.</summary>
internal sealed unsafe class CudaDevice : IDisposable
{
    private const int NameBytes = 256;

    private readonly int _device;

    private CudaDevice(int device, string name, int driverVersion)
    {
        _device = device;
        Name = name;
        DriverVersion = driverVersion;
    }

    public string Name { get; }

    /// <summary>Gets the version of CUDA that the driver serves: 1000 × major + 10 × minor.</summary>
    public int DriverVersion { get; }

    /// <summary>Loads <paramref name="library"/>, or the system's driver where that is null, and opens the first device.</summary>
    public static CudaDevice Open(string? library)
    {
        Cuda.Load(library);
        Cuda.Check(Cuda.Init(0), "cuInit");
        int version;
        Cuda.Check(Cuda.DriverGetVersion(&version), "cuDriverGetVersion");
        int count;
        Cuda.Check(Cuda.DeviceGetCount(&count), "cuDeviceGetCount");
        if (count == 0)
        {
            throw new CudaException("the CUDA driver finds no device");
        }

        int device;
        Cuda.Check(Cuda.DeviceGet(&device, 0), "cuDeviceGet");
        byte* name = stackalloc byte[NameBytes];
        Cuda.Check(Cuda.DeviceGetName(name, NameBytes, device), "cuDeviceGetName");
        nint context;
        Cuda.Check(Cuda.DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
        CudaDevice opened = new(device, Marshal.PtrToStringUTF8((nint)name) ?? string.Empty, version);
        try
        {
            Cuda.Check(Cuda.CtxSetCurrent(context), "cuCtxSetCurrent");
            return opened;
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    public ulong Allocate(nuint bytes)
    {
        ulong address;
        Cuda.Check(Cuda.MemAlloc(&address, bytes), $"cuMemAlloc of {bytes} bytes");
        return address;
    }

    public void Free(ulong address) => Cuda.Check(Cuda.MemFree(address), "cuMemFree");

    /// <summary>Allocates pinned memory of the host.</summary>
    public nint AllocateHost(nuint bytes)
    {
        void* address;
        Cuda.Check(Cuda.MemHostAlloc(&address, bytes, 0), $"cuMemHostAlloc of {bytes} bytes");
        return (nint)address;
    }

    public void FreeHost(nint address) => Cuda.Check(Cuda.MemFreeHost((void*)address), "cuMemFreeHost");

    /// <summary>Pins memory of the host, so that the device reads it without a copy in between.</summary>
    public void Register(nint address, nuint bytes)
        => Cuda.Check(Cuda.MemHostRegister((void*)address, bytes, 0), $"cuMemHostRegister of {bytes} bytes");

    public void Unregister(nint address) => Cuda.Check(Cuda.MemHostUnregister((void*)address), "cuMemHostUnregister");

    /// <summary>
    /// Copies to the device, and waits until the bytes are there: from memory that is not pinned, the copy alone may return earlier.
    /// </summary>
    public void CopyToDevice(ulong to, nint from, nuint bytes)
    {
        Cuda.Check(Cuda.MemcpyHtoD(to, (void*)from, bytes), $"cuMemcpyHtoD of {bytes} bytes");
        Cuda.Check(Cuda.CtxSynchronize(), "cuCtxSynchronize");
    }

    public void CopyToHost(nint to, ulong from, nuint bytes)
        => Cuda.Check(Cuda.MemcpyDtoH((void*)to, from, bytes), $"cuMemcpyDtoH of {bytes} bytes");

    public void Dispose() => Cuda.Check(Cuda.DevicePrimaryCtxRelease(_device), "cuDevicePrimaryCtxRelease");
}

/// <summary>The CUDA driver could not do what it was asked; the message says which call failed, and with what.</summary>
internal sealed class CudaException(string message) : Exception(message);

/// <summary>
/// The few functions of the CUDA driver API that a copy to a device takes, with the signatures of <c>cuda.h</c>. Names that end in
/// <c>_v2</c> are what the header's macros stand for: the plain names are older functions with other parameters.
/// </summary>
/// <remarks>
/// CUresult, CUdevice and int are 32 bits, CUdeviceptr and size_t 64, CUcontext a pointer; the program is for 64-bit processes.
/// </remarks>
internal static unsafe partial class CudaFunctions
{
    private const string Driver = "cuda driver";

    /// <summary>Loads the driver's library: <paramref name="name"/>, or the system's own where that is null.</summary>
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
