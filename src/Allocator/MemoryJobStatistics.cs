namespace Allocator;

/// <summary>What the last jobs of one name took, and how many run and wait, read at one moment.</summary>
public readonly record struct MemoryJobStatistics
{
    /// <summary>Gets the name, as it was given to <see cref="MemoryAllocator.ReserveAsync(string, long, CancellationToken)"/>. Those above
    /// 256 characters are shortened.</summary>
    public string Name { get; init; }

    /// <summary>
    /// Gets the smallest size in this group: each power of two has a history of its own. 4,194,304 stands for sizes below 8,388,608, and 1
    /// for jobs without a size.
    /// </summary>
    public long Size { get; init; }

    /// <summary>
    /// Gets the most that one of the last 64 took from the allocator, in bytes, rounded up to 64 KiB: the next one of that size claims as
    /// much. Of jobs that need less than an eighth of the largest, one in eight counts.
    /// </summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Gets the most that one of them is thought to have taken elsewhere, in bytes. It is claimed, too.</summary>
    public long ElsewhereBytes { get; init; }

    /// <summary>Gets the most bytes that one of them took for each unit of its size, from the allocator and elsewhere.</summary>
    public double BytesPerUnit { get; init; }

    /// <summary>Gets how many run now.</summary>
    public int Running { get; init; }

    /// <summary>Gets how many wait to begin.</summary>
    public int Waiting { get; init; }

    /// <summary>Gets how many have ended.</summary>
    public long Ended { get; init; }

    /// <summary>Gets how many of those were refused memory.</summary>
    public long Refused { get; init; }

    /// <summary>Returns the figures of two groups as one: the larger needs, and the sums of the counts.</summary>
    internal static MemoryJobStatistics Merge(in MemoryJobStatistics one, in MemoryJobStatistics other) => new()
    {
        Name = one.Name,
        Size = Math.Min(one.Size, other.Size),
        AllocatedBytes = Math.Max(one.AllocatedBytes, other.AllocatedBytes),
        ElsewhereBytes = Math.Max(one.ElsewhereBytes, other.ElsewhereBytes),
        BytesPerUnit = Math.Max(one.BytesPerUnit, other.BytesPerUnit),
        Running = one.Running + other.Running,
        Waiting = one.Waiting + other.Waiting,
        Ended = one.Ended + other.Ended,
        Refused = one.Refused + other.Refused,
    };
}
