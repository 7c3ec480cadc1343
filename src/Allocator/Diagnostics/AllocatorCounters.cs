using System.Threading;

namespace Allocator.Diagnostics;

/// <summary>
/// What one allocator counts on its slow paths, with interlocked additions. A rent that finds a block in the pool touches none of these:
/// such rents are read off the blocks themselves.
/// </summary>
internal sealed class AllocatorCounters
{
    /// <summary>The number of reasons that there are.</summary>
    public const int TrimReasons = (int)TrimReason.Exchange + 1;

    private long _committedBytes;
    private long _peakCommittedBytes;
    private readonly long[] _trimmedBytes = new long[TrimReasons];
    private readonly long[] _trims = new long[TrimReasons];
    private long _abandoned;
    private long _retries;
    private long _poolMisses;
    private long _coldPoolRents;
    private long _budgetWaits;
    private long _nativeHeapTrims;
    private long _nativeHeapTrimmedBytes;
    private long _nativeHeapTrimMilliseconds;
    private long _mappingRents;
    private long _mappingsOutstanding;
    private long _mappingRentedBytes;
    private long _mappingQuarantinedBytes;

    /// <summary>Gets the name that the user gave the allocator.</summary>
    public string? AllocatorName { get; init; }

    public long CommittedBytes => Interlocked.Read(ref _committedBytes);

    public long PeakCommittedBytes => Interlocked.Read(ref _peakCommittedBytes);

    public long TrimmedBytes => Sum(_trimmedBytes);

    public long Trims => Sum(_trims);

    public long Abandoned => Interlocked.Read(ref _abandoned);

    public long Retries => Interlocked.Read(ref _retries);

    /// <summary>Gets the requests above 1 MiB that the system had to serve, in full or in part.</summary>
    public long PoolMisses => Interlocked.Read(ref _poolMisses);

    /// <summary>
    /// Gets those of the misses whose first block is the pool's, and which the blocks therefore count as rents of theirs.
    /// </summary>
    public long ColdPoolRents => Interlocked.Read(ref _coldPoolRents);

    /// <summary>Gets the requests that had to wait for the budget, or were refused by it.</summary>
    public long BudgetWaits => Interlocked.Read(ref _budgetWaits);

    /// <summary>Gets how often free memory of malloc was given back because this allocator asked for it.</summary>
    public long NativeHeapTrims => Interlocked.Read(ref _nativeHeapTrims);

    /// <summary>Gets by how much less of the process was resident after these than before.</summary>
    public long NativeHeapTrimmedBytes => Interlocked.Read(ref _nativeHeapTrimmedBytes);

    /// <summary>Gets how long these took in all.</summary>
    public long NativeHeapTrimMilliseconds => Interlocked.Read(ref _nativeHeapTrimMilliseconds);

    /// <summary>Gets the allocations whose first part is a mapping of their own, or an array that counts against a budget.</summary>
    public long MappingRents => Interlocked.Read(ref _mappingRents);

    /// <summary>Gets how many of these are out.</summary>
    public long OutstandingAllocations => Interlocked.Read(ref _mappingsOutstanding);

    public long MappingRentedBytes => Interlocked.Read(ref _mappingRentedBytes);

    public long MappingQuarantinedBytes => Interlocked.Read(ref _mappingQuarantinedBytes);

    public void AddCommitted(long bytes)
    {
        long now = Interlocked.Add(ref _committedBytes, bytes);
        long peak = Interlocked.Read(ref _peakCommittedBytes);
        while (now > peak)
        {
            long seen = Interlocked.CompareExchange(ref _peakCommittedBytes, now, peak);
            if (seen == peak)
            {
                break;
            }

            peak = seen;
        }

        AllocatorEventSource.Log.MemoryCommitted(AllocatorName, bytes, now);
    }

    /// <summary>Counts memory that the system has back, and gives how much it has not.</summary>
    public long RemoveCommitted(long bytes) => Interlocked.Add(ref _committedBytes, -bytes);

    /// <summary>Gets how many bytes of idle memory went for one reason.</summary>
    public long TrimmedBytesFor(TrimReason reason) => Interlocked.Read(ref _trimmedBytes[(int)reason]);

    /// <summary>Gets how many trims gave memory back for one reason.</summary>
    public long TrimsFor(TrimReason reason) => Interlocked.Read(ref _trims[(int)reason]);

    /// <summary>
    /// Counts a trim, unless it gave nothing back, and writes the event for it. The trimmer writes its own, with the load that it went by.
    /// </summary>
    public void CountTrim(TrimReason reason, long bytes)
    {
        if (bytes > 0)
        {
            Interlocked.Add(ref _trimmedBytes[(int)reason], bytes);
            Interlocked.Increment(ref _trims[(int)reason]);
            if (reason > TrimReason.HighLoad)
            {
                AllocatorEventSource.Log.MemoryTrimmed(AllocatorName, bytes, reason, default);
            }
        }
    }

    public void CountAbandoned() => Interlocked.Increment(ref _abandoned);

    public void CountRetry() => Interlocked.Increment(ref _retries);

    public void CountBudgetWait() => Interlocked.Increment(ref _budgetWaits);

    public void CountNativeHeapTrim(long bytes, long milliseconds)
    {
        Interlocked.Increment(ref _nativeHeapTrims);
        Interlocked.Add(ref _nativeHeapTrimmedBytes, bytes);
        Interlocked.Add(ref _nativeHeapTrimMilliseconds, milliseconds);
    }

    public void CountMiss(bool servedByPool)
    {
        Interlocked.Increment(ref _poolMisses);
        if (servedByPool)
        {
            Interlocked.Increment(ref _coldPoolRents);
        }
    }

    /// <summary>Counts a mapping that goes out. <paramref name="isAllocation"/> is false for the further parts of a group.</summary>
    public void MappingRented(long bytes, bool isAllocation)
    {
        Interlocked.Add(ref _mappingRentedBytes, bytes);
        if (isAllocation)
        {
            Interlocked.Increment(ref _mappingRents);
            Interlocked.Increment(ref _mappingsOutstanding);
        }
    }

    public void MappingReturned(long bytes, bool isAllocation)
    {
        Interlocked.Add(ref _mappingRentedBytes, -bytes);
        if (isAllocation)
        {
            Interlocked.Decrement(ref _mappingsOutstanding);
        }
    }

    public void MappingQuarantined(long bytes, bool isAllocation)
    {
        Interlocked.Add(ref _mappingQuarantinedBytes, bytes);
        MappingReturned(bytes, isAllocation);
    }

    /// <summary>Counts returned memory that is kept from everybody for now.</summary>
    public void MappingEnteredQuarantine(long bytes) => Interlocked.Add(ref _mappingQuarantinedBytes, bytes);

    public void MappingLeftQuarantine(long bytes) => Interlocked.Add(ref _mappingQuarantinedBytes, -bytes);

    private static long Sum(long[] counts)
    {
        long sum = 0;
        for (int i = 0; i < counts.Length; i++)
        {
            sum += Interlocked.Read(ref counts[i]);
        }

        return sum;
    }
}
