namespace Allocator.Lifetime;

/// <summary>
/// What one pool knows of its arrays, so that no rent of an idle one changes a shared count: each array that has ever lain idle has a
/// record here, and the others, of which each was rented once, are a number. Records, not guards, which are to be found unreachable where
/// a renter abandons them. Thread-safe.
/// </summary>
internal sealed class ArrayRecords
{
    private readonly List<ArrayRecord> _records = [];
    private readonly ShortLock _lock = new(mayAllocate: true);
    private long _rentsOfDropped;
    private long _neverIdle;
    private long _neverIdleBytes;

    /// <summary>Counts an array that was made for a renter.</summary>
    public void NoteMade(long bytes) => CountNeverIdle(1, bytes);

    /// <summary>Keeps the record of an array that is about to lie idle, which its holder gives back; false for want of memory.</summary>
    public bool TryAdd(ArrayRecord record, long bytes)
    {
        if (record.Place >= 0)
        {
            return true;
        }

        try
        {
            using (_lock.Enter())
            {
                _records.Add(record);
                record.Place = _records.Count - 1;
                CountNeverIdle(-1, -bytes);
            }

            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }

    /// <summary>Forgets an array, but not how often it was rented.</summary>
    public void Remove(ArrayRecord record, long bytes)
    {
        using (_lock.Enter())
        {
            _rentsOfDropped += record.Rents;
            if (record.Place < 0)
            {
                CountNeverIdle(-1, -bytes);
                return;
            }

            int end = _records.Count - 1;
            _records[record.Place] = _records[end];
            _records[record.Place].Place = record.Place;
            _records.RemoveAt(end);
        }
    }

    /// <summary>Begins a period, at whose end <see cref="ArrayRecord.IsStale"/> says what was idle through it.</summary>
    public void StartPeriod()
    {
        using (_lock.Enter())
        {
            _records.ForEach(static record => record.StartPeriod());
        }
    }

    /// <summary>Adds up the rents and returns, and the bytes that are outstanding. Looks at each record.</summary>
    public ArrayCounts Sum()
    {
        using (_lock.Enter())
        {
            long rents = _rentsOfDropped + _neverIdle;
            ArrayCounts sum = new() { Rents = rents, Returns = _rentsOfDropped, RentedBytes = _neverIdleBytes };
            foreach (ArrayRecord record in _records)
            {
                bool isOutstanding = BlockState.IsOutstanding(Volatile.Read(ref record.State));
                rents = Volatile.Read(ref record.Rents);
                sum.Rents += rents;
                sum.Returns += isOutstanding ? rents - 1 : rents;
                sum.RentedBytes += isOutstanding ? record.AllocationBytes : 0;
            }

            return sum;
        }
    }

    private void CountNeverIdle(long arrays, long bytes)
    {
        using (_lock.Enter())
        {
            _neverIdle += arrays;
            _neverIdleBytes += bytes;
        }
    }
}

/// <summary>One array as its pool knows it, while it is outstanding too.</summary>
internal sealed class ArrayRecord : BlockState
{
    private long _rentsBefore = -1;

    public ArrayRecord()
    {
        RunLength = 1;
        Zeroed = true;
    }

    /// <summary>Gets or sets where it stands in <see cref="ArrayRecords"/>, under the lock of these; below 0 for nowhere.</summary>
    public int Place { get; set; } = -1;

    /// <summary>Gets whether it was idle when the period began, and no rent has begun since.</summary>
    public bool IsStale => _rentsBefore == Volatile.Read(ref Rents);

    public void StartPeriod() => _rentsBefore = IsIdle(Volatile.Read(ref State)) ? Volatile.Read(ref Rents) : -1;
}
