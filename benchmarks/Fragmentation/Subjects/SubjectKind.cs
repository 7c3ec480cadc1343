namespace Fragmentation.Subjects;

/// <summary>The sources of memory that are compared.</summary>
internal enum SubjectKind
{
    /// <summary>The heap: <c>malloc</c> and <c>free</c>.</summary>
    Unaligned,

    /// <summary>The heap's aligned allocation, on 64 bytes.</summary>
    Aligned,

    /// <summary>Pixel buffers of this library, of blocks of 4 MiB.</summary>
    Discontiguous,

    /// <summary>Pixel buffers of this library, each in one piece.</summary>
    Contiguous,

    /// <summary>The model of a classic pool over the heap.</summary>
    Classic,
}
