using System;
using System.Collections.Generic;
using System.Linq;
using Measuring.Timing;

namespace Decisions.Purging;

/// <summary>All rounds of one method with one kind of pages.</summary>
/// <param name="Method">The method.</param>
/// <param name="Pages">The size of the pages.</param>
/// <param name="Costs">What each round cost.</param>
/// <param name="Faults">The latencies of another thread's faults in each round, at <see cref="Fractions"/>, in nanoseconds.</param>
/// <param name="Undisturbed">The same with nobody purging.</param>
/// <param name="ReadsZero">Whether purged memory reads as zero.</param>
/// <param name="MappingsAdded">By how many mappings the process has more while every second block is purged.</param>
/// <param name="PartInHugePages">What part of the memory was in huge pages before it was purged.</param>
internal sealed record PurgeFigures(
    string Method,
    string Pages,
    IReadOnlyList<PurgeCost> Costs,
    IReadOnlyList<double[]> Faults,
    IReadOnlyList<double[]> Undisturbed,
    bool ReadsZero,
    int MappingsAdded,
    double PartInHugePages)
{
    /// <summary>The parts of all faults whose latency is kept.</summary>
    public static readonly double[] Fractions = [0.5, 0.99, 0.999, 1];

    /// <summary>The names of <see cref="Fractions"/>.</summary>
    public static readonly string[] FractionNames = ["median", "p99", "p99.9", "max"];

    private const int Tail = 2;

    /// <summary>Gets the time to purge a block and use it again, in microseconds.</summary>
    public double Both => Median(cost => cost.PurgeMicroseconds + cost.RetouchMicroseconds);

    /// <summary>Gets the median of the rounds' ratios of the 99.9th percentile to that of the same round undisturbed.</summary>
    public double FaultRatio => Statistics.Median(Faults.Zip(Undisturbed, (faults, alone) => faults[Tail] / alone[Tail]));

    /// <summary>Returns the median of a cost.</summary>
    public double Median(Func<PurgeCost, double> cost) => Statistics.Median(Costs.Select(cost));

    /// <summary>Returns the median over the rounds of a fault's latency.</summary>
    public double MedianFault(int fraction) => Statistics.Median(Faults.Select(faults => faults[fraction]));

    /// <summary>Returns the same with nobody purging.</summary>
    public double MedianUndisturbed(int fraction) => Statistics.Median(Undisturbed.Select(faults => faults[fraction]));
}
