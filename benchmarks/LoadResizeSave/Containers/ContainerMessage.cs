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

/// <summary>Who holds memory at one moment. All in bytes.</summary>
/// <param name="Charged">What its cgroup is charged with and the kernel cannot drop; 0 where there is no cgroup.</param>
/// <param name="Store">What the way of having memory holds: outstanding and idle.</param>
/// <param name="Malloc">What the C library holds of the system, used or free.</param>
internal readonly record struct MemoryReading(
    double Seconds, long Charged, long Resident, long Store, long ManagedHeap, long Malloc, long MallocFree)
{
    private const double Mebibyte = 1 << 20;

    public string Describe() => string.Create(
        CultureInfo.InvariantCulture,
        $"charged {Charged / Mebibyte:0.0} MiB: store {Store / Mebibyte:0.0}, managed heap {ManagedHeap / Mebibyte:0.0}, ")
        + string.Create(CultureInfo.InvariantCulture, $"malloc {Malloc / Mebibyte:0.0} of which free {MallocFree / Mebibyte:0.0}");
}

/// <summary>What a child found when all its jobs had ended.</summary>
internal sealed record RunMessage
{
    public required double Seconds { get; init; }

    public MemoryReading Before { get; init; }

    /// <summary>Gets the memory after the last one, when what lies idle was released.</summary>
    public required MemoryReading After { get; init; }

    public MemoryReading Collected { get; init; }

    /// <summary>Gets what the work cost the whole process; of pipelines only.</summary>
    public ProcessCounters? Cost { get; init; }

    public long PeakResidentBytes { get; init; }

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
