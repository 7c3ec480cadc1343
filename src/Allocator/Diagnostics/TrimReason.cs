namespace Allocator.Diagnostics;

/// <summary>Why idle memory was given back.</summary>
internal enum TrimReason
{
    /// <summary>A part of what stayed idle through a whole period.</summary>
    Period,

    /// <summary>All that lay idle, because memory is short.</summary>
    HighLoad,
}
