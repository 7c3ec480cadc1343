namespace Allocator.Lifetime;

/// <summary>
/// One thread's part of an allocator's arrays: its counts, and guards for its next rents. Only that thread writes to it, so it needs no
/// interlocked operations.
/// </summary>
internal sealed class ThreadCache
{
    private const int KeptGuards = 16;

    // Guards behind the first. A thread that holds one array at a time needs only the first.
    private readonly ArrayGuard?[] _guards = new ArrayGuard?[KeptGuards];
    private ArrayGuard? _firstGuard;
    private int _guardCount;
    private ArrayCounts _counts;

    public ThreadCache(ArraySource source) => Source = source;

    /// <summary>Gets the source that it is a part of. It references no allocator: a dropped one is collected, and closes it.</summary>
    public ArraySource Source { get; }

    public ref ArrayCounts Counts => ref _counts;

    /// <summary>Returns a guard that this thread kept, or null.</summary>
    public ArrayGuard? TakeGuard()
    {
        ArrayGuard? guard = _firstGuard;
        if (guard is not null)
        {
            _firstGuard = null;
            return guard;
        }

        int last = _guardCount - 1;
        if ((uint)last < (uint)_guards.Length)
        {
            _guardCount = last;
            guard = _guards[last];
            _guards[last] = null;
        }

        return guard;
    }

    /// <summary>Keeps a guard if there is room.</summary>
    public void KeepGuard(ArrayGuard guard)
    {
        if (guard.Cache != this)
        {
            guard.Cache = this;
        }

        if (_firstGuard is null)
        {
            _firstGuard = guard;
        }
        else if ((uint)_guardCount < (uint)_guards.Length)
        {
            _guards[_guardCount++] = guard;
        }
    }

    // Volatile, so that 32-bit readers see no half of a count, and see the counts of one rent in order.
    public void CountRent(int bytes)
    {
        Volatile.Write(ref _counts.RentedBytes, _counts.RentedBytes + bytes);
        Volatile.Write(ref _counts.Rents, _counts.Rents + 1);
    }

    public void CountReturn(int bytes)
    {
        Volatile.Write(ref _counts.ReturnedBytes, _counts.ReturnedBytes + bytes);
        Volatile.Write(ref _counts.Returns, _counts.Returns + 1);
    }

    /// <summary>Adds the counts of an ended thread to shared ones, and begins anew, so that nothing is counted twice.</summary>
    public void MoveTo(ref ArrayCounts counts)
    {
        Interlocked.Add(ref counts.Rents, _counts.Rents);
        Interlocked.Add(ref counts.RentedBytes, _counts.RentedBytes);
        Interlocked.Add(ref counts.Returns, _counts.Returns);
        Interlocked.Add(ref counts.ReturnedBytes, _counts.ReturnedBytes);
        _counts = default;
    }
}

/// <summary>
/// The rents and returns of managed arrays. Padded to two cache lines, so that threads do not slow each other down by counting.
/// </summary>
[StructLayout(LayoutKind.Sequential, Size = 128)]
internal struct ArrayCounts
{
    public long Rents;
    public long Returns;
    public long RentedBytes;
    public long ReturnedBytes;

    /// <summary>Adds the rents. Another thread may be writing them.</summary>
    public void AddRentsTo(ref ArrayCounts sum)
    {
        sum.Rents += Volatile.Read(ref Rents);
        sum.RentedBytes += Volatile.Read(ref RentedBytes);
    }

    /// <summary>Adds the returns. Another thread may be writing them.</summary>
    public void AddReturnsTo(ref ArrayCounts sum)
    {
        sum.Returns += Volatile.Read(ref Returns);
        sum.ReturnedBytes += Volatile.Read(ref ReturnedBytes);
    }
}
