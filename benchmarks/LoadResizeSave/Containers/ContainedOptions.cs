namespace LoadResizeSave.Containers;

/// <summary>What a child in a container is to do.</summary>
internal sealed record ContainedOptions
{
    public required string Way { get; init; }

    /// <summary>Gets the container's limit in MiB, from which a budget is found.</summary>
    public required int LimitMegabytes { get; init; }

    public required int Workers { get; init; }

    public required int Jobs { get; init; }

    /// <summary>Gets into how many bursts the jobs fall: the next one begins when all jobs of one have ended.</summary>
    public int Bursts { get; init; } = 1;

    /// <summary>Gets the kinds of jobs; job i is of kind i modulo their number.</summary>
    public IReadOnlyList<JobKind> Kinds { get => field ?? [JobKind.Whole]; init; }

    /// <summary>Gets the paths of the pictures; job i has the picture i modulo their number.</summary>
    public required IReadOnlyList<string> Pictures { get; init; }

    /// <summary>Gets how long the child keeps still after the last job before it looks at its memory, in seconds.</summary>
    public double SettleSeconds { get; init; }

    /// <summary>Gets how often the library looks at its idle memory, in seconds; null: as often as it does by default.</summary>
    public double? TrimPeriodSeconds { get; init; }

    /// <summary>Gets whether the child reports who holds its memory, all the time.</summary>
    public bool Explains { get; init; }
}
