namespace Measuring.Natives;

/// <summary>The native allocators that programs compare with where the system has them.</summary>
public enum NativeAllocatorKind
{
    Mimalloc,

    Jemalloc,

    Tbb,
}
