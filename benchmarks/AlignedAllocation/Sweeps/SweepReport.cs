using System.Collections.Generic;

namespace AlignedAllocation.Sweeps;

/// <summary>What a child measured.</summary>
internal sealed record SweepReport
{
    /// <summary>Gets how the program was built: <c>Release</c> or <c>Debug</c>.</summary>
    public required string Configuration { get; init; }

    /// <summary>Gets a value indicating whether the program and the library are compiled with optimisation, as their assemblies say.</summary>
    public required bool IsOptimized { get; init; }

    /// <summary>Gets the samples of each time.</summary>
    public required int Samples { get; init; }

    /// <summary>Gets the times.</summary>
    public required IReadOnlyList<SweepTime> Times { get; init; }
}
