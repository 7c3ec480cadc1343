using System;
using System.Collections.Generic;
using System.Linq;
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

    /// <summary>Gets where results go.</summary>
    public required string Output { get; init; }

    /// <summary>Gets the ways of having memory.</summary>
    public required IReadOnlyList<MemoryWay> Ways { get; init; }

    /// <summary>Gets the containers' limits in MiB.</summary>
    public required IReadOnlyList<int> Limits { get; init; }

    /// <summary>Gets how many jobs run at once, each number in turn.</summary>
    public required IReadOnlyList<int> AtOnce { get; init; }

    /// <summary>Gets the jobs of a run; null: as many as run at once, and at least 24.</summary>
    public int? Jobs { get; init; }

    /// <summary>Gets the runs of each cell.</summary>
    public required int Runs { get; init; }

    /// <summary>Gets the runs of the cells about which something is claimed: the library's ways.</summary>
    public required int ClaimRuns { get; init; }

    /// <summary>Gets after how long no further run is begun.</summary>
    public required TimeSpan Time { get; init; }

    /// <summary>Gets whether malloc is left as it is where the guides say otherwise.</summary>
    public bool KeepsMalloc { get; init; }

    /// <summary>Gets whether children say who holds their memory.</summary>
    public bool Explains { get; init; }

    /// <summary>Returns all cells without runs: the reference first.</summary>
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
            way.IsOfLibrary && limit != ReferenceMegabytes ? Math.Max(Runs, ClaimRuns) : Runs);
}
