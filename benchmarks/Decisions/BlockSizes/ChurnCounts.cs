namespace Decisions.BlockSizes;

/// <summary>What became of some hundreds of images.</summary>
internal sealed record ChurnCounts
{
    /// <summary>Gets the number of images.</summary>
    public int Images { get; set; }

    /// <summary>Gets the number of those that the pool served alone.</summary>
    public int FromPool { get; set; }

    /// <summary>Gets the number of images that had to be contiguous.</summary>
    public int Contiguous { get; set; }

    /// <summary>Gets the number of those that the pool served.</summary>
    public int ContiguousFromPool { get; set; }

    /// <summary>Gets the members of all images that need not be contiguous.</summary>
    public long Members { get; set; }

    /// <summary>Gets what all images asked for, in bytes.</summary>
    public long RequestedBytes { get; set; }

    /// <summary>Gets what they were given, in bytes.</summary>
    public long GivenBytes { get; set; }

    /// <summary>Gets the most that images occupied at a time, in bytes asked for.</summary>
    public long PeakLiveBytes { get; set; }

    /// <summary>Gets the most that the allocator had of the system at a time, in bytes.</summary>
    public long PeakCommittedBytes { get; set; }

    /// <summary>Gets what part of the memory given was not asked for.</summary>
    public double Waste => 1 - ((double)RequestedBytes / GivenBytes);
}
