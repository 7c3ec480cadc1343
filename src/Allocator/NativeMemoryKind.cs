namespace Allocator;

/// <summary>Names where unmanaged memory comes from.</summary>
public enum NativeMemoryKind
{
    /// <summary>
    /// Address space reserved from the operating system (<c>mmap</c>, <c>VirtualAlloc</c>). What is trimmed really leaves the process,
    /// blocks start on 2 MiB boundaries, and adjacent blocks make contiguous runs. The default.
    /// </summary>
    Virtual,

    /// <summary>The C heap, aligned (<c>NativeMemory.AlignedAlloc</c>). What is freed may stay with the process.</summary>
    Heap,

    /// <summary><c>Marshal.AllocHGlobal</c>.</summary>
    HGlobal,

    /// <summary><c>Marshal.AllocCoTaskMem</c>, for memory handed to COM. One allocation is below 2 GiB.</summary>
    CoTaskMem,
}
