using System.Collections.Generic;

namespace Allocator.Benchmarks.Reporting;

/// <summary>What was found for one method with one set of parameters.</summary>
internal sealed record MeasuredCase
{
    /// <summary>Gets the method's name in the code.</summary>
    public required string Method { get; init; }

    /// <summary>Gets the method's name for readers.</summary>
    public required string Description { get; init; }

    /// <summary>Gets the parameters, in the order of the tables.</summary>
    public required IReadOnlyList<MeasuredParameter> Parameters { get; init; }

    /// <summary>Gets whether the others are compared with this one.</summary>
    public bool IsBaseline { get; init; }

    /// <summary>Gets the arithmetic mean in nanoseconds an operation; null where the benchmark failed.</summary>
    public double? Mean { get; init; }

    /// <summary>Gets half of the 99.9 % confidence interval of the mean, in nanoseconds.</summary>
    public double? Error { get; init; }

    /// <summary>Gets the standard deviation in nanoseconds.</summary>
    public double? Deviation { get; init; }

    /// <summary>Gets the collections of generations 0, 1 and 2 in 1,000 operations; empty where they were not counted.</summary>
    public IReadOnlyList<double> Collections { get; init; } = [];

    /// <summary>Gets what an operation allocates on the managed heap, on all threads, in bytes.</summary>
    public double? AllocatedBytes { get; init; }
}
