namespace Allocator.Diagnostics;

/// <summary>
/// The counts of one allocator on its slow paths, with interlocked additions. A rent that finds a block in the pool touches none of these:
/// such rents are read off the blocks themselves.
/// </summary>
internal sealed class AllocatorCounters
{
    public const int TrimReasons = (int)TrimReason.Exchange + 1;

    private readonly long[] _counts = new long[(int)UsageFigure.Count];
    private readonly long[] _lastTrims = new long[TrimReasons];
    private long _coldPoolRents;

    public string? AllocatorName { get; init; }

    public long CommittedBytes => this[UsageFigure.CommittedBytes];

    public long Abandoned => this[UsageFigure.Abandoned];

    /// <summary>Gets the misses whose first block came from the pool; the blocks count these as rents.</summary>
    public long ColdPoolRents => Interlocked.Read(ref _coldPoolRents);

    /// <summary>
    /// Gets this class's count of a figure. Other parts of the allocator may have more of it: rents, for one, are here those whose first
    /// member is a mapping of its own.
    /// </summary>
    public long this[UsageFigure figure] => Interlocked.Read(ref _counts[(int)figure]);

    /// <summary>Adds these counts to the figures, which other parts of the allocator add to as well. Takes no memory.</summary>
    public void AddTo(long[] figures)
    {
        for (int i = 0; i < figures.Length; i++)
        {
            figures[i] += Interlocked.Read(ref _counts[i]);
        }
    }

    public void AddCommitted(long bytes)
    {
        long now = Add(UsageFigure.CommittedBytes, bytes);
        ref long peak = ref _counts[(int)UsageFigure.PeakCommittedBytes];
        for (long seen = Interlocked.Read(ref peak), found; now > seen; seen = found)
        {
            found = Interlocked.CompareExchange(ref peak, now, seen);
            if (found == seen)
            {
                break;
            }
        }

        AllocatorEventSource.Log.MemoryCommitted(bytes, now, AllocatorName);
    }

    /// <summary>Counts memory returned to the system, and returns how much is still committed.</summary>
    public long RemoveCommitted(long bytes) => Add(UsageFigure.CommittedBytes, -bytes);

    /// <summary>Counts a trim that freed memory, and writes its event, with the load that made the trimmer decide.</summary>
    public void CountTrim(TrimReason reason, long bytes, in MemoryLoad load = default)
    {
        if (bytes > 0)
        {
            Interlocked.Exchange(ref _lastTrims[(int)reason], Environment.TickCount64);
            Add(UsageFigure.TrimmedBytes + (int)reason, bytes);
            Add(UsageFigure.Trims + (int)reason, 1);
            AllocatorEventSource.Log.MemoryTrimmed(AllocatorName, bytes, reason, load);
        }
    }

    /// <summary>Returns when a trim for a reason last freed memory, in milliseconds since the machine started; 0 for never.</summary>
    public long LastTrimMilliseconds(TrimReason reason) => Interlocked.Read(ref _lastTrims[(int)reason]);

    public void Count(UsageFigure figure) => Add(figure, 1);

    public void CountNativeHeapTrim(long bytes, long milliseconds)
    {
        Add(UsageFigure.NativeHeapTrims, 1);
        Add(UsageFigure.NativeHeapTrimmedBytes, bytes);
        Add(UsageFigure.NativeHeapTrimMilliseconds, milliseconds);
    }

    public void CountMiss(bool servedByPool)
    {
        Add(UsageFigure.PoolMisses, 1);
        if (servedByPool)
        {
            Interlocked.Increment(ref _coldPoolRents);
        }
    }

    /// <summary>Counts a mapping that is rented. <paramref name="isAllocation"/> is false for the further members of a group.</summary>
    public void MappingRented(long bytes, bool isAllocation)
    {
        Add(UsageFigure.RentedBytes, bytes);
        if (isAllocation)
        {
            Add(UsageFigure.Rents, 1);
            Add(UsageFigure.Outstanding, 1);
        }
    }

    public void MappingReturned(long bytes, bool isAllocation)
    {
        Add(UsageFigure.RentedBytes, -bytes);
        if (isAllocation)
        {
            Add(UsageFigure.Outstanding, -1);
        }
    }

    /// <summary>Counts memory that enters quarantine; a negative number counts memory that leaves it.</summary>
    public void AddQuarantined(long bytes) => Add(UsageFigure.QuarantinedBytes, bytes);

    private long Add(UsageFigure figure, long value) => Interlocked.Add(ref _counts[(int)figure], value);
}

/// <summary>Why idle memory was released.</summary>
internal enum TrimReason
{
    /// <summary>A part of the memory that stayed idle through a whole period.</summary>
    Period,

    /// <summary>All idle memory, because memory is short.</summary>
    HighLoad,

    /// <summary>A caller asked for it, or disposed the allocator.</summary>
    Requested,

    /// <summary>The system or the budget refused memory to a request, and idle memory made room.</summary>
    Refusal,

    /// <summary>A contiguous run got new memory, and as much idle memory elsewhere was released.</summary>
    Exchange,
}
