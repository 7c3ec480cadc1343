namespace PageAlignedTransfer.Transfers;

/// <summary>How long the phases of a transfer took, in microseconds.</summary>
internal readonly record struct TransferPhases
{
    /// <summary>Gets the time for the allocation.</summary>
    public double Allocate { get; init; }

    /// <summary>Gets the time until the memory was locked; 0 where it is not, or was before.</summary>
    public double Register { get; init; }

    /// <summary>Gets the time for the first write to every page.</summary>
    public double Populate { get; init; }

    /// <summary>Gets the time for the read from the file.</summary>
    public double Read { get; init; }

    /// <summary>Gets the time for the copy out of the bounce buffer; 0 where there is none.</summary>
    public double Copy { get; init; }

    /// <summary>Gets the time for the checksum.</summary>
    public double Process { get; init; }

    /// <summary>Gets the time for the end of the lock.</summary>
    public double Unregister { get; init; }

    /// <summary>Gets the time for the release.</summary>
    public double Release { get; init; }

    /// <summary>Gets the time for all of it.</summary>
    public double Total => Allocate + Register + Populate + Read + Copy + Process + Unregister + Release;
}
