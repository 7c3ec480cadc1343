namespace Measuring.Natives;

/// <summary>The native allocators that programs compare with where the system has them.</summary>
public enum NativeAllocatorKind
{
    /// <summary>mimalloc; Debian: <c>libmimalloc2.0</c>.</summary>
    Mimalloc,

    /// <summary>jemalloc; Debian: <c>libjemalloc2</c>.</summary>
    Jemalloc,

    /// <summary>The scalable allocator of oneTBB; Debian: <c>libtbbmalloc2</c>.</summary>
    Tbb,
}
