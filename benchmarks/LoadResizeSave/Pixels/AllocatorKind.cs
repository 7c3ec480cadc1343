namespace LoadResizeSave.Pixels;

/// <summary>Names the ways of getting memory that the program compares.</summary>
public enum AllocatorKind
{
    /// <summary><c>MemoryAllocator.Create()</c>: blocks are kept between pictures and trimmed when idle.</summary>
    Pool,

    /// <summary>The same allocator that retains nothing: every picture asks the operating system.</summary>
    Unpooled,

    /// <summary><c>ArrayPool&lt;byte&gt;.Shared</c>: arrays of the next power of two.</summary>
    ArrayPool,

    GC,

    /// <summary>The pool with a budget: each picture waits until there is memory for all that it will take.</summary>
    Budget,
}
