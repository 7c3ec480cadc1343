namespace PageAlignedTransfer.Cuda;

/// <summary>The memory of the host that a device is given.</summary>
internal enum HostMemoryKind
{
    /// <summary>A buffer of the pool, as it is.</summary>
    PoolUnpinned,

    /// <summary>A buffer of the pool that was registered once and is used again and again.</summary>
    PoolRegisteredOnce,

    /// <summary>A buffer of the pool that is registered before each copy and unregistered after it.</summary>
    PoolRegisteredEachTime,

    /// <summary>Memory of the heap, as it is.</summary>
    HeapUnpinned,

    /// <summary>Memory of the heap that is registered before each copy and unregistered after it.</summary>
    HeapRegisteredEachTime,

    /// <summary>Pinned memory from the driver.</summary>
    DriverPinned,
}
