namespace LoadResizeSave.Containers;

/// <summary>How a job ended.</summary>
internal enum JobEnd
{
    Done,

    Refused,

    RefusedForGood,

    Vanished,

    Damaged,

    Failed,
}

/// <summary>What became of one job.</summary>
/// <param name="Seconds">From when it was asked for to its end, its wait for memory included.</param>
internal sealed record JobMessage(
    string Picture, JobKind Kind, JobEnd End, double Seconds, double WaitedSeconds, string? Sha256, string? Reason)
{
    /// <summary>Gets the burst that it belongs to, from 0 on.</summary>
    public int Burst { get; init; }
}

/// <summary>Who holds memory at one moment, in bytes.</summary>
/// <param name="Charged">What the cgroup is charged with and the kernel cannot drop.</param>
/// <param name="Store">What the allocation strategy holds: outstanding and idle.</param>
/// <param name="Malloc">What the C library holds of the system, used or free.</param>
internal sealed record MemoryReading(long Charged, long Store, long ManagedHeap, long Malloc, long MallocFree)
{
    public string Describe() => Invariant($"charged {Charged >> 20} MiB: store {Store >> 20}, managed heap {ManagedHeap >> 20}, ")
        + Invariant($"malloc {Malloc >> 20} of which free {MallocFree >> 20}");
}

/// <summary>The result of a child whose jobs have all ended.</summary>
internal sealed record RunMessage
{
    public required double Seconds { get; init; }

    /// <summary>Gets what the work cost the whole process; of pipelines only, as are both resident sets.</summary>
    public ProcessCounters? Cost { get; init; }

    public long PeakResidentBytes { get; init; }

    /// <summary>Gets the resident set after idle memory was released.</summary>
    public long FinalResidentBytes { get; init; }

    public MemoryAllocatorStatistics? Statistics { get; init; }
}

/// <summary>Reads and writes what a child in a container and its parent exchange.</summary>
[JsonSourceGenerationOptions(
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ContainedOptions))]
[JsonSerializable(typeof(ContainerMessage))]
[JsonSerializable(typeof(PipelineRequest))]
[JsonSerializable(typeof(NeighbourRequest))]
internal sealed partial class ContainerJson : JsonSerializerContext;

/// <summary>One line of what a child in a container writes: a child that is killed has at least written what it did before.</summary>
internal sealed record ContainerMessage
{
    public JobMessage? Job { get; init; }

    public MemoryReading? Memory { get; init; }

    public RunMessage? Run { get; init; }

    public bool? Begins { get; init; }
}
