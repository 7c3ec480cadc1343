namespace Decisions.Purging;

/// <summary>What one purge of all blocks cost, and what it left behind.</summary>
internal sealed record PurgeCost
{
    /// <summary>Gets the time to purge a block, in microseconds.</summary>
    public required double PurgeMicroseconds { get; init; }

    /// <summary>Gets the time to make a block usable and to write to all its pages, in microseconds.</summary>
    public required double RetouchMicroseconds { get; init; }

    /// <summary>Gets what part of the memory the system still counted as resident right after, by <c>statm</c>.</summary>
    public required double StillResident { get; init; }

    /// <summary>Gets the same by walking the page tables.</summary>
    public required double StillMapped { get; init; }

    /// <summary>Gets what part of the memory the page tables mark as free to take.</summary>
    public required double LazilyFreed { get; init; }
}
