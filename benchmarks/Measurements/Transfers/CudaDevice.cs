using System.Runtime.InteropServices;
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
    /// <exception cref="CudaException">There is no library, no device, or the driver refuses.</exception>
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
