namespace A4Copy.Buffers;

/// <summary>Names the kinds of memory.</summary>
internal enum MemoryKind
{
    /// <summary><c>Marshal.AllocHGlobal</c>.</summary>
    HGlobal,

    /// <summary><c>Marshal.AllocCoTaskMem</c>.</summary>
    CoTaskMem,

    /// <summary><c>NativeMemory.AlignedAlloc</c>.</summary>
    AlignedHeap,

    /// <summary>This library without a pool: a mapping for each page.</summary>
    Virtual,

    /// <summary>This library's pool.</summary>
    Pool,
}
