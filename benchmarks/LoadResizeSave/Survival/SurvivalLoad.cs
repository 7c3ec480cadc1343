using LoadResizeSave.Containers;

namespace LoadResizeSave.Survival;

/// <summary>What the user asked for, checked.</summary>
internal sealed record SurvivalLoad
{
    /// <summary>The container that limits nothing, in MiB: what others are compared with.</summary>
    public const int ReferenceMegabytes = 4096;

    // Enough that what the first ones cost, code that is compiled for instance, is a small part.
    private const int FewestJobs = 24;

    /// <summary>Gets the folder of photographs; null: those of the system, or some that are made.</summary>
    public string? Input { get; init; }

    public required IReadOnlyList<MemoryWay> Ways { get; init; }

    public required IReadOnlyList<int> Limits { get; init; }

    public required IReadOnlyList<int> AtOnce { get; init; }

    /// <summary>Gets the jobs of a run; null: as many as run at once, and at least 24.</summary>
    public int? Jobs { get; init; }

    public required int Runs { get; init; }

    // Of the library's ways, the reference among them: speeds are compared over the same time.
    public required int ClaimRuns { get; init; }

    public required TimeSpan Time { get; init; }

    public bool KeepsMalloc { get; init; }

    public bool Explains { get; init; }

    public IReadOnlyList<SurvivalCell> CreateCells() =>
    [
        .. from atOnce in AtOnce
           select Create(MemoryWay.Get("default"), ReferenceMegabytes, atOnce),
        .. from limit in Limits
           from atOnce in AtOnce
           from way in Ways
           select Create(way, limit, atOnce),
    ];

    private SurvivalCell Create(MemoryWay way, int limit, int atOnce)
        => new(
            way, limit, atOnce, Jobs ?? Math.Max(FewestJobs, atOnce),
            way.IsOfLibrary ? Math.Max(Runs, ClaimRuns) : Runs);
}
