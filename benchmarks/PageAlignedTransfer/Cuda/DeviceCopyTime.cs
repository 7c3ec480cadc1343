using System;
using System.Collections.Generic;
using System.Linq;
using Measuring.Timing;

namespace PageAlignedTransfer.Cuda;

/// <summary>The copies of one size out of one kind of memory.</summary>
/// <param name="Kind">The memory.</param>
/// <param name="Bytes">The size, in bytes.</param>
/// <param name="Rounds">Every copy, in the order of time.</param>
internal sealed record DeviceCopyTime(HostMemoryKind Kind, int Bytes, IReadOnlyList<DeviceCopyPhases> Rounds)
{
    /// <summary>Returns the median of a phase, in microseconds.</summary>
    public double Median(Func<DeviceCopyPhases, double> phase) => Statistics.Median(Rounds.Select(phase));

    /// <summary>Returns the median over the rounds of this time divided by that of <paramref name="other"/> in the same round.</summary>
    public double RatioTo(DeviceCopyTime other) => Statistics.Median(Rounds.Zip(other.Rounds, (mine, others) => mine.Total / others.Total));
}
