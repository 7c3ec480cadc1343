using System;
using System.Collections.Generic;
using System.Linq;
using Measuring.Timing;

namespace PageAlignedTransfer.Transfers;

/// <summary>The transfers of one size by one way.</summary>
/// <param name="Way">The way's name.</param>
/// <param name="Bytes">The size, in bytes.</param>
/// <param name="Rounds">Every transfer, in the order of time.</param>
internal sealed record TransferTime(string Way, int Bytes, IReadOnlyList<TransferPhases> Rounds)
{
    /// <summary>Returns the median of a phase, in microseconds.</summary>
    public double Median(Func<TransferPhases, double> phase) => Statistics.Median(Rounds.Select(phase));

    /// <summary>Returns the median over the rounds of this way's whole time divided by that of <paramref name="other"/> in the same round.</summary>
    public double RatioTo(TransferTime other) => Statistics.Median(Rounds.Zip(other.Rounds, (mine, others) => mine.Total / others.Total));
}
