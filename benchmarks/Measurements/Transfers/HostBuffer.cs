namespace Measurements.Transfers;

/// <summary>The memory of the host that a device is given.</summary>
internal enum HostMemoryKind
{
    PoolUnpinned,

    /// <summary>A buffer of the pool that was registered once and is used again and again.</summary>
    PoolRegisteredOnce,

    /// <summary>A buffer of the pool that is registered before each copy and unregistered after it.</summary>
    PoolRegisteredEachTime,
    HeapUnpinned,
    HeapRegisteredEachTime,

    /// <summary>Pinned memory from the driver.</summary>
    DriverPinned,
}

/// <summary>Memory of the host, of one kind, that is copied to the device.</summary>
internal sealed unsafe class HostBuffer : IDisposable
{
    // Up to 1 MiB the pool gives arrays, which the collector may move: one byte more is a block.
    private const int LeastBlockRequest = (1 << 20) + 1;

    private readonly CudaDevice _device;
    private readonly HostMemoryKind _kind;
    private readonly IMemoryOwner<byte>? _owner;
    private readonly nint _address;
    private readonly int _bytes;
    private readonly bool _isRegistered;

    public HostBuffer(CudaDevice device, MemoryAllocator allocator, HostMemoryKind kind, int bytes)
    {
        _device = device;
        _kind = kind;
        _bytes = bytes;
        switch (kind)
        {
            case HostMemoryKind.HeapUnpinned or HostMemoryKind.HeapRegisteredEachTime:
                _address = (nint)NativeMemory.Alloc((nuint)bytes);
                break;
            case HostMemoryKind.DriverPinned:
                _address = device.AllocateHost((nuint)bytes);
                break;
            default:
                _owner = allocator.Allocate<byte>(Math.Max(bytes, LeastBlockRequest));
                _address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(_owner.Memory.Span));
                break;
        }

        try
        {
            if (kind == HostMemoryKind.PoolRegisteredOnce)
            {
                device.Register(_address, (nuint)bytes);
                _isRegistered = true;
            }
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public Span<byte> Bytes => new((void*)_address, _bytes);

    public TransferPhases CopyTo(ulong to)
    {
        bool registers = _kind is HostMemoryKind.PoolRegisteredEachTime or HostMemoryKind.HeapRegisteredEachTime;
        long start = Stopwatch.GetTimestamp();
        if (registers)
        {
            _device.Register(_address, (nuint)_bytes);
        }

        long registered = Stopwatch.GetTimestamp();
        _device.CopyToDevice(to, _address, (nuint)_bytes);
        long copied = Stopwatch.GetTimestamp();
        if (registers)
        {
            _device.Unregister(_address);
        }

        return new TransferPhases
        {
            Register = registers ? Stopwatch.GetElapsedTime(start, registered).TotalMicroseconds : 0,
            Copy = Stopwatch.GetElapsedTime(registered, copied).TotalMicroseconds,
            Unregister = registers ? Stopwatch.GetElapsedTime(copied).TotalMicroseconds : 0,
        };
    }

    public void Dispose()
    {
        // A block must not go back to its pool while it is pinned: trimming would take pages from under the device.
        if (_isRegistered)
        {
            _device.Unregister(_address);
        }

        if (_owner is not null)
        {
            _owner.Dispose();
        }
        else if (_kind == HostMemoryKind.DriverPinned)
        {
            _device.FreeHost(_address);
        }
        else
        {
            NativeMemory.Free((void*)_address);
        }
    }
}
