using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>
/// What one pool knows of all its arrays, idle or outstanding. Not by their guards, which are to be found unreachable where a renter
/// abandons them. Some of them are kept: these lie idle between rents, and take so many bytes at most. Thread-safe.
/// </summary>
internal sealed class ArrayRecords(long maximumKeptBytes)
{
    private readonly List<ArrayRecord> _records = [];
    private readonly ShortLock _lock = new();
    private long _rentsOfRemoved;
    private long _keptBytes;

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

        Interlocked.Add(ref _keptBytes, -record.TakeKeptBytes());
    }

    /// <summary>
    /// Returns whether an array, which its holder gives back, may lie idle. Counted when it first does, not at each rent: between rents
    /// that are short it is expected back.
    /// </summary>
    public bool TryKeep(ArrayRecord record, long bytes)
    {
        if (record.KeptBytes == 0 && MemoryBudget.TryAdd(ref _keptBytes, bytes, maximumKeptBytes))
        {
            record.KeptBytes = bytes;
        }

        return record.KeptBytes != 0;
    }

    /// <summary>
    /// Begins a period. What has been outstanding through the last one no longer counts as kept: others may lie idle in its place. One
    /// that comes back at this moment may lie idle uncounted, until its next rent.
    /// </summary>
    public void StartPeriod()
    {
        using (_lock.Enter())
        {
            foreach (ArrayRecord record in _records)
            {
                if (record.IsStale && !BlockState.IsIdle(Volatile.Read(ref record.State)))
                {
                    Interlocked.Add(ref _keptBytes, -record.TakeKeptBytes());
                }

                record.StartPeriod();
            }
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
    private long _keptBytes;

    public ArrayRecord()
    {
        RunLength = 1;
        Zeroed = true;
    }

    /// <summary>Gets or sets where it stands in <see cref="ArrayRecords"/>. Under the lock of these.</summary>
    public int Place { get; set; }

    /// <summary>Gets or sets what the array takes of what its pool may keep; 0 where it is not kept.</summary>
    public long KeptBytes
    {
        get => Volatile.Read(ref _keptBytes);
        set => Volatile.Write(ref _keptBytes, value);
    }

    /// <summary>Gets whether no rent has begun since <see cref="StartPeriod"/>.</summary>
    public bool IsStale => _rentsBefore == Volatile.Read(ref Rents);

    public void StartPeriod() => _rentsBefore = Volatile.Read(ref Rents);

    /// <summary>Has the array no longer kept; returns what it took, to one caller only.</summary>
    public long TakeKeptBytes() => Interlocked.Exchange(ref _keptBytes, 0);
}
