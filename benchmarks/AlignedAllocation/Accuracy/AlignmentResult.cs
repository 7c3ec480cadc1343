using System.Collections.Generic;

namespace AlignedAllocation.Accuracy;

/// <summary>What the check found about one way of allocating.</summary>
internal sealed record AlignmentResult
{
    /// <summary>Gets the way's name.</summary>
    public required string Way { get; init; }

    /// <summary>Gets the number of buffers.</summary>
    public required int Buffers { get; init; }

    /// <summary>Gets the least alignment that was promised to any of them, in bytes.</summary>
    public required int LeastPromise { get; init; }

    /// <summary>Gets the largest alignment that was promised to any of them, in bytes.</summary>
    public required int LargestPromise { get; init; }

    /// <summary>Gets the largest power of two, in bytes, that all addresses are multiples of.</summary>
    public required long LeastFound { get; init; }

    /// <summary>Gets how many buffers begin on a multiple of 64 bytes, promised or not.</summary>
    public required int OnCacheLines { get; init; }

    /// <summary>Gets what was wrong: one sentence a buffer, which names it.</summary>
    public required IReadOnlyList<string> Failures { get; init; }
}
