namespace HeapPerf.Heaps;

/// <summary>Names what is compared.</summary>
internal enum HeapKind
{
    /// <summary>This library's pool, by <c>Allocate&lt;byte&gt;</c>: an owner, which the GC collects.</summary>
    PoolOwner,

    /// <summary>This library's pool, by <c>Rent&lt;byte&gt;</c>: a lease on the stack.</summary>
    PoolLease,

    /// <summary><c>ArrayPool&lt;byte&gt;.Shared</c>.</summary>
    ArrayPool,

    /// <summary><c>NativeMemory.Alloc</c> and <c>Free</c>: the C library's heap.</summary>
    NativeMemory,

    /// <summary>mimalloc.</summary>
    Mimalloc,

    /// <summary>jemalloc.</summary>
    Jemalloc,

    /// <summary>oneTBB's <c>scalable_malloc</c>.</summary>
    Tbb,
}
