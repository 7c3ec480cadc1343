namespace Allocator.Lifetime;

/// <summary>
/// What one pool knows of all its arrays, idle or outstanding. Not by their guards, which are to be found unreachable where a renter
/// abandons them. Thread-safe.
/// </summary>
internal sealed class ArrayRecords
{
    private readonly List<ArrayRecord> _records = [];
    private readonly ShortLock _lock = new();
    private long _rentsOfRemoved;

    public void Add(ArrayRecord record)
    {
        using (_lock.Enter())
        {
            record.Place = _records.Count;
            _records.Add(record);
        }
    }

    /// <summary>Forgets an array, but not how often it was rented.</summary>
    public void Remove(ArrayRecord record)
    {
        using (_lock.Enter())
        {
            int end = _records.Count - 1;
            _records[record.Place] = _records[end];
            _records[record.Place].Place = record.Place;
            _records.RemoveAt(end);
            _rentsOfRemoved += record.Rents;
        }
    }

    /// <summary>Adds up the rents and returns, and the bytes that are outstanding. Looks at each array.</summary>
    public ArrayCounts Sum()
    {
        using (_lock.Enter())
        {
            ArrayCounts sum = new() { Rents = _rentsOfRemoved, Returns = _rentsOfRemoved };
            foreach (ArrayRecord record in _records)
            {
                bool isOutstanding = BlockState.IsOutstanding(Volatile.Read(ref record.State));
                long rents = Volatile.Read(ref record.Rents);
                sum.Rents += rents;
                sum.Returns += isOutstanding ? rents - 1 : rents;
                sum.RentedBytes += isOutstanding ? record.AllocationBytes : 0;
            }

            return sum;
        }
    }
}

/// <summary>One array as its pool knows it, while it is outstanding too.</summary>
internal sealed class ArrayRecord : BlockState
{
    private long _rentsBefore;

    public ArrayRecord()
    {
        RunLength = 1;
        Zeroed = true;
    }

    /// <summary>Gets or sets where it stands in <see cref="ArrayRecords"/>. Under the lock of these.</summary>
    public int Place { get; set; }

    /// <summary>Gets or sets whether the array counts among those that the pool keeps. Of the thread that holds it.</summary>
    public bool IsKept { get; set; }

    /// <summary>Gets whether no rent has begun since <see cref="StartPeriod"/>.</summary>
    public bool IsStale => _rentsBefore == Volatile.Read(ref Rents);

    public void StartPeriod() => _rentsBefore = Volatile.Read(ref Rents);
}
