namespace Allocator.Diagnostics;

/// <summary>How memory was misused.</summary>
public enum CorruptionKind
{
    /// <summary>Behind the end of a buffer, while it was rented.</summary>
    Overrun,

    /// <summary>Before the start of a buffer, while it was rented.</summary>
    Underrun,

    /// <summary>After the buffer had been returned.</summary>
    WriteAfterReturn,

    /// <summary>
    /// Not written to: native code freed an address that its <see cref="NativeAllocationCallbacks"/> had not allocated, or had freed
    /// already. The call was ignored.
    /// </summary>
    InvalidFree,
}
