namespace Measurements.Transfers;

/// <summary>How long the phases of a transfer took, in microseconds; 0 where there was none.</summary>
internal readonly record struct TransferPhases
{
    public double Allocate { get; init; }

    /// <summary>Gets the time until the memory was locked, or pinned for a device.</summary>
    public double Register { get; init; }

    /// <summary>Gets the time for the first write to every page.</summary>
    public double Populate { get; init; }

    public double Read { get; init; }

    /// <summary>Gets the time for the copy out of the bounce buffer, or to a device.</summary>
    public double Copy { get; init; }

    /// <summary>Gets the time for the checksum.</summary>
    public double Process { get; init; }

    public double Unregister { get; init; }

    public double Release { get; init; }

    public double Total => Allocate + Register + Populate + Read + Copy + Process + Unregister + Release;
}

/// <summary>The transfers of one size by one way, in the order of time.</summary>
internal sealed record TransferTime(string Way, int Bytes, IReadOnlyList<TransferPhases> Rounds)
{
    /// <summary>Gets the rate of a median transfer, in MB/s.</summary>
    public double Rate => Bytes / Median(phases => phases.Total);

    public double Median(Func<TransferPhases, double> phase) => Statistics.Median(Rounds.Select(phase));

    /// <summary>
    /// Returns the median over the rounds of this way's whole time divided by that of <paramref name="other"/> in the same round.
    /// </summary>
    public double RatioTo(TransferTime other)
        => Statistics.Median(Rounds.Zip(other.Rounds, (mine, others) => mine.Total / others.Total));
}
