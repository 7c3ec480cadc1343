using System;
using System.Runtime.InteropServices;

namespace PageAlignedTransfer.Cuda;

/// <summary>The first CUDA device, with its context current on the calling thread, which is the one that uses and disposes it.</summary>
internal sealed unsafe class CudaDevice : IDisposable
{
    private const int NameBytes = 256;

    private readonly CudaFunctions _cuda;
    private readonly int _device;

    private CudaDevice(CudaFunctions cuda, int device, string name, int driverVersion)
    {
        _cuda = cuda;
        _device = device;
        Name = name;
        DriverVersion = driverVersion;
    }

    /// <summary>Gets the device's name.</summary>
    public string Name { get; }

    /// <summary>Gets the version of CUDA that the driver serves: 1000 × major + 10 × minor.</summary>
    public int DriverVersion { get; }

    /// <summary>Loads <paramref name="library"/>, or the system's driver where that is null, and opens the first device.</summary>
    /// <exception cref="CudaException">There is no library, no device, or the driver refuses.</exception>
    public static CudaDevice Open(string? library)
    {
        CudaFunctions cuda = CudaFunctions.Load(library);
        cuda.Check(cuda.Init(0), "cuInit");
        int version;
        cuda.Check(cuda.DriverGetVersion(&version), "cuDriverGetVersion");
        int count;
        cuda.Check(cuda.DeviceGetCount(&count), "cuDeviceGetCount");
        if (count == 0)
        {
            throw new CudaException("the CUDA driver finds no device");
        }

        int device;
        cuda.Check(cuda.DeviceGet(&device, 0), "cuDeviceGet");
        byte* name = stackalloc byte[NameBytes];
        cuda.Check(cuda.DeviceGetName(name, NameBytes, device), "cuDeviceGetName");
        nint context;
        cuda.Check(cuda.DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
        CudaDevice opened = new(cuda, device, Marshal.PtrToStringUTF8((nint)name) ?? string.Empty, version);
        try
        {
            cuda.Check(cuda.CtxSetCurrent(context), "cuCtxSetCurrent");
            return opened;
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    /// <summary>Allocates memory on the device.</summary>
    public ulong Allocate(nuint bytes)
    {
        ulong address;
        _cuda.Check(_cuda.MemAlloc(&address, bytes), $"cuMemAlloc of {bytes} bytes");
        return address;
    }

    /// <summary>Frees what <see cref="Allocate"/> returned.</summary>
    public void Free(ulong address) => _cuda.Check(_cuda.MemFree(address), "cuMemFree");

    /// <summary>Allocates pinned memory of the host.</summary>
    public nint AllocateHost(nuint bytes)
    {
        void* address;
        _cuda.Check(_cuda.MemHostAlloc(&address, bytes, 0), $"cuMemHostAlloc of {bytes} bytes");
        return (nint)address;
    }

    /// <summary>Frees what <see cref="AllocateHost"/> returned.</summary>
    public void FreeHost(nint address) => _cuda.Check(_cuda.MemFreeHost((void*)address), "cuMemFreeHost");

    /// <summary>Pins memory of the host, so that the device reads it without a copy in between.</summary>
    public void Register(nint address, nuint bytes)
        => _cuda.Check(_cuda.MemHostRegister((void*)address, bytes, 0), $"cuMemHostRegister of {bytes} bytes");

    /// <summary>Ends what <see cref="Register"/> began.</summary>
    public void Unregister(nint address) => _cuda.Check(_cuda.MemHostUnregister((void*)address), "cuMemHostUnregister");

    /// <summary>Copies to the device, and waits until the bytes are there: from memory that is not pinned, the copy alone may return earlier.</summary>
    public void CopyToDevice(ulong to, nint from, nuint bytes)
    {
        _cuda.Check(_cuda.MemcpyHtoD(to, (void*)from, bytes), $"cuMemcpyHtoD of {bytes} bytes");
        _cuda.Check(_cuda.CtxSynchronize(), "cuCtxSynchronize");
    }

    /// <summary>Copies back from the device.</summary>
    public void CopyToHost(nint to, ulong from, nuint bytes)
        => _cuda.Check(_cuda.MemcpyDtoH((void*)to, from, bytes), $"cuMemcpyDtoH of {bytes} bytes");

    /// <inheritdoc/>
    public void Dispose() => _cuda.Check(_cuda.DevicePrimaryCtxRelease(_device), "cuDevicePrimaryCtxRelease");
}
