using System;
using System.Runtime.InteropServices;

namespace PageAlignedTransfer.Cuda;

/// <summary>
/// The few functions of the CUDA driver API that a copy to a device takes, with the signatures of <c>cuda.h</c>. Names that end in <c>_v2</c>
/// are what the header's macros stand for: the plain names are older functions with other parameters.
/// </summary>
/// <remarks>CUresult, CUdevice and int are 32 bits, CUdeviceptr and size_t 64, CUcontext a pointer; the program is for 64-bit processes.</remarks>
internal sealed unsafe class CudaFunctions
{
    private readonly delegate* unmanaged<int, byte**, int> _getErrorName;
    private readonly delegate* unmanaged<int, byte**, int> _getErrorString;

    private CudaFunctions(nint library)
    {
        // First: the names of whatever else fails come from these two.
        _getErrorName = (delegate* unmanaged<int, byte**, int>)Find(library, "cuGetErrorName");
        _getErrorString = (delegate* unmanaged<int, byte**, int>)Find(library, "cuGetErrorString");
        Init = (delegate* unmanaged<uint, int>)Find(library, "cuInit");
        DriverGetVersion = (delegate* unmanaged<int*, int>)Find(library, "cuDriverGetVersion");
        DeviceGetCount = (delegate* unmanaged<int*, int>)Find(library, "cuDeviceGetCount");
        DeviceGet = (delegate* unmanaged<int*, int, int>)Find(library, "cuDeviceGet");
        DeviceGetName = (delegate* unmanaged<byte*, int, int, int>)Find(library, "cuDeviceGetName");
        DevicePrimaryCtxRetain = (delegate* unmanaged<nint*, int, int>)Find(library, "cuDevicePrimaryCtxRetain");
        DevicePrimaryCtxRelease = (delegate* unmanaged<int, int>)Find(library, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease");
        CtxSetCurrent = (delegate* unmanaged<nint, int>)Find(library, "cuCtxSetCurrent");
        CtxSynchronize = (delegate* unmanaged<int>)Find(library, "cuCtxSynchronize");
        MemAlloc = (delegate* unmanaged<ulong*, nuint, int>)Find(library, "cuMemAlloc_v2");
        MemFree = (delegate* unmanaged<ulong, int>)Find(library, "cuMemFree_v2");
        MemcpyHtoD = (delegate* unmanaged<ulong, void*, nuint, int>)Find(library, "cuMemcpyHtoD_v2");
        MemcpyDtoH = (delegate* unmanaged<void*, ulong, nuint, int>)Find(library, "cuMemcpyDtoH_v2");
        MemHostAlloc = (delegate* unmanaged<void**, nuint, uint, int>)Find(library, "cuMemHostAlloc");
        MemFreeHost = (delegate* unmanaged<void*, int>)Find(library, "cuMemFreeHost");
        MemHostRegister = (delegate* unmanaged<void*, nuint, uint, int>)Find(library, "cuMemHostRegister_v2");
        MemHostUnregister = (delegate* unmanaged<void*, int>)Find(library, "cuMemHostUnregister");
    }

    /// <summary>Gets cuInit(flags): flags are 0.</summary>
    public delegate* unmanaged<uint, int> Init { get; }

    /// <summary>Gets cuDriverGetVersion(version): 1000 × major + 10 × minor.</summary>
    public delegate* unmanaged<int*, int> DriverGetVersion { get; }

    /// <summary>Gets cuDeviceGetCount(count).</summary>
    public delegate* unmanaged<int*, int> DeviceGetCount { get; }

    /// <summary>Gets cuDeviceGet(device, ordinal).</summary>
    public delegate* unmanaged<int*, int, int> DeviceGet { get; }

    /// <summary>Gets cuDeviceGetName(name, length, device).</summary>
    public delegate* unmanaged<byte*, int, int, int> DeviceGetName { get; }

    /// <summary>Gets cuDevicePrimaryCtxRetain(context, device).</summary>
    public delegate* unmanaged<nint*, int, int> DevicePrimaryCtxRetain { get; }

    /// <summary>Gets cuDevicePrimaryCtxRelease(device).</summary>
    public delegate* unmanaged<int, int> DevicePrimaryCtxRelease { get; }

    /// <summary>Gets cuCtxSetCurrent(context), for the calling thread.</summary>
    public delegate* unmanaged<nint, int> CtxSetCurrent { get; }

    /// <summary>Gets cuCtxSynchronize().</summary>
    public delegate* unmanaged<int> CtxSynchronize { get; }

    /// <summary>Gets cuMemAlloc(device pointer, bytes).</summary>
    public delegate* unmanaged<ulong*, nuint, int> MemAlloc { get; }

    /// <summary>Gets cuMemFree(device pointer).</summary>
    public delegate* unmanaged<ulong, int> MemFree { get; }

    /// <summary>Gets cuMemcpyHtoD(to device pointer, from host, bytes).</summary>
    public delegate* unmanaged<ulong, void*, nuint, int> MemcpyHtoD { get; }

    /// <summary>Gets cuMemcpyDtoH(to host, from device pointer, bytes).</summary>
    public delegate* unmanaged<void*, ulong, nuint, int> MemcpyDtoH { get; }

    /// <summary>Gets cuMemHostAlloc(address, bytes, flags).</summary>
    public delegate* unmanaged<void**, nuint, uint, int> MemHostAlloc { get; }

    /// <summary>Gets cuMemFreeHost(address).</summary>
    public delegate* unmanaged<void*, int> MemFreeHost { get; }

    /// <summary>Gets cuMemHostRegister(address, bytes, flags).</summary>
    public delegate* unmanaged<void*, nuint, uint, int> MemHostRegister { get; }

    /// <summary>Gets cuMemHostUnregister(address).</summary>
    public delegate* unmanaged<void*, int> MemHostUnregister { get; }

    /// <summary>Loads the driver's library: <paramref name="name"/>, or the system's own where that is null.</summary>
    /// <exception cref="CudaException">There is none, or it lacks a function.</exception>
    public static CudaFunctions Load(string? name)
    {
        if (!Environment.Is64BitProcess)
        {
            throw new CudaException("this is a 32-bit process, and the signatures used here are for 64 bits");
        }

        name ??= OperatingSystem.IsWindows() ? "nvcuda.dll" : "libcuda.so.1";
        return NativeLibrary.TryLoad(name, out nint library)
            ? new CudaFunctions(library)
            : throw new CudaException($"{name}, the library of the CUDA driver, cannot be loaded");
    }

    /// <summary>Throws where <paramref name="result"/>, which <paramref name="call"/> returned, is not success.</summary>
    /// <exception cref="CudaException">It is an error; the message has its number, its name and the driver's description.</exception>
    public void Check(int result, string call)
    {
        if (result != 0)
        {
            throw new CudaException($"{call} failed with {result}, {Ask(_getErrorName, result)}: {Ask(_getErrorString, result)}");
        }
    }

    private static string Ask(delegate* unmanaged<int, byte**, int> ask, int result)
    {
        byte* text = null;
        return ask(result, &text) == 0 && Marshal.PtrToStringUTF8((nint)text) is { } found ? found : "an error that this driver has no text for";
    }

    private static nint Find(nint library, params string[] names)
    {
        foreach (string name in names)
        {
            if (NativeLibrary.TryGetExport(library, name, out nint address))
            {
                return address;
            }
        }

        throw new CudaException($"the library of the CUDA driver has no {names[0]}");
    }
}
