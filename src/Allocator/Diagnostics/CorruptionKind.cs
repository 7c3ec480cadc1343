namespace Allocator.Diagnostics;

/// <summary>How memory was written to that was not the writer's.</summary>
public enum CorruptionKind
{
    /// <summary>Behind the end of a buffer, while it was rented.</summary>
    Overrun,

    /// <summary>Before the start of a buffer, while it was rented.</summary>
    Underrun,

    /// <summary>After the buffer had been returned.</summary>
    WriteAfterReturn,
}
