namespace Allocator.Diagnostics;

/// <summary>Why idle memory was given back.</summary>
internal enum TrimReason
{
    /// <summary>A part of what stayed idle through a whole period.</summary>
    Period,

    /// <summary>All that lay idle, because memory is short.</summary>
    HighLoad,

    /// <summary>A caller asked for it, or disposed the allocator.</summary>
    Requested,

    /// <summary>The system or the budget refused memory to a request, and idle memory made room.</summary>
    Refusal,

    /// <summary>A contiguous run was given new memory, and as much of the memory that lay idle in the wrong places went.</summary>
    Exchange,
}
