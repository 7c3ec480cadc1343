using System;
using System.Collections.Generic;
using LoadResizeSave.Containers;

namespace LoadResizeSave.Mixed;

/// <summary>What the user asked for, checked.</summary>
internal sealed record MixedLoad
{
    /// <summary>Gets the names of the ways that are run unless others are asked for.</summary>
    public static string[] UsualWays => ["default", "free", "reserve"];

    /// <summary>Gets where results go.</summary>
    public required string Output { get; init; }

    /// <summary>Gets the ways of having memory.</summary>
    public required IReadOnlyList<MemoryWay> Ways { get; init; }

    /// <summary>Gets the container's limit in MiB.</summary>
    public required int LimitMegabytes { get; init; }

    /// <summary>Gets how many jobs run at once.</summary>
    public required int Workers { get; init; }

    /// <summary>Gets the jobs of a run.</summary>
    public required int Jobs { get; init; }

    /// <summary>Gets the runs of each way.</summary>
    public required int Runs { get; init; }

    /// <summary>Gets after how long no further run is begun.</summary>
    public required TimeSpan Time { get; init; }
}
