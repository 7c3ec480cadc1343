using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Rents arrays of <see cref="ArrayPool{T}.Shared"/> for one allocator, and counts them by thread, without interlocked operations: a
/// shared counter would cost as much as the rent. Only threads that rent have such counts; others add to shared ones. Reading sums over
/// the threads; it is exact while none of them allocates. Returning takes no lock.
/// </summary>
internal sealed class ArraySource(MemoryAllocatorOptions options)
{
    private readonly bool _clearOnReturn = options.ClearOnReturn;
    private readonly string? _allocatorName = options.Name;
    private readonly ShortLock _lock = new(mayAllocate: true);
    private readonly List<ThreadCache> _caches = [];

    // Counts for threads without a cache, and for ended threads. In an array, so that they are not beside the fields that every rent reads.
    private readonly ArrayCounts[] _ofOthers = new ArrayCounts[1];
    private bool _isClosed;

    /// <summary>Rents an array of at least that many bytes, and begins the rent.</summary>
    public ArrayGuard Rent(int lengthInBytes, bool clean, out long generation)
    {
        ThreadCache cache = ThreadCache.Find(this) ?? AddCache();
        byte[] array = ArrayPool<byte>.Shared.Rent(lengthInBytes);
        if (clean)
        {
            array.AsSpan(0, lengthInBytes).Clear();
        }

        ArrayGuard guard = cache.TakeGuard() ?? new ArrayGuard(this);
        if (Tracing.Arrays)
        {
            guard.BeginTrace(array, lengthInBytes, _allocatorName);
        }

        generation = guard.Begin(array, lengthInBytes);

        // Last, so that nothing can fail after it.
        cache.CountRent(array.Length);
        return guard;
    }

    /// <summary>Takes back an array after its rent. Never fails.</summary>
    public void Return(byte[] array, ArrayGuard guard)
    {
        ThreadCache? cache = null;
        try
        {
            cache = ThreadCache.Find(this);
        }
        catch (OutOfMemoryException)
        {
            // The first use of a thread-static in a thread needs managed memory.
        }

        if (cache is not null)
        {
            cache.CountReturn(array.Length);
            cache.KeepGuard(guard);
        }
        else
        {
            Interlocked.Add(ref _ofOthers[0].ReturnedBytes, array.Length);
            Interlocked.Increment(ref _ofOthers[0].Returns);
        }

        try
        {
            ArrayPool<byte>.Shared.Return(array, _clearOnReturn);
        }
        catch (ThreadInterruptedException)
        {
            // A lock of that pool was interrupted. The collector gets the array, and the interrupt takes effect later.
            Thread.CurrentThread.Interrupt();
        }
        catch (OutOfMemoryException)
        {
            // Out of memory: that pool makes a table at the first return of a thread.
        }
    }

    public ArrayCounts Sum()
    {
        using ShortLock.Section section = _lock.Enter();

        // Read all returns before any rent, so that an array which is rented and returned meanwhile on two threads counts as outstanding,
        // never as a negative number.
        ArrayCounts sum = default;
        _ofOthers[0].AddReturnsTo(ref sum);
        foreach (ThreadCache cache in _caches)
        {
            cache.Counts.AddReturnsTo(ref sum);
        }

        foreach (ThreadCache cache in _caches)
        {
            cache.Counts.AddRentsTo(ref sum);
        }

        _ofOthers[0].AddRentsTo(ref sum);
        return sum;
    }

    /// <summary>Removes what threads keep for this source. No rent follows; returns are still counted.</summary>
    public void Close()
    {
        using ShortLock.Section section = _lock.Enter();
        _isClosed = true;
        foreach (ThreadCache cache in _caches)
        {
            cache.Close();
        }
    }

    // Adds a cache for the current thread. Forgets the caches of ended threads, but not their counts.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ThreadCache AddCache()
    {
        ThreadCache added = new();
        using ShortLock.Section section = _lock.Enter();
        _caches.Add(added);
        if (!_isClosed)
        {
            added.Enter(this);
        }

        for (int i = _caches.Count - 1; i >= 0; i--)
        {
            if (!_caches[i].IsOfLiveThread)
            {
                _caches[i].MoveTo(ref _ofOthers[0]);
                _caches.RemoveAt(i);
            }
        }

        return added;
    }
}

/// <summary>
/// One thread's part of an allocator's arrays: its counts, and guards for its next rents. Only that thread writes to it, so it needs no
/// interlocked operations. A thread keeps its caches in a table, and finds the one that it used last without the table.
/// </summary>
internal sealed class ThreadCache
{
    private const int KeptGuards = 16;

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static ThreadCache? t_last;

    [ThreadStatic]
    private static ConditionalWeakTable<ArraySource, ThreadCache>? t_all;
#pragma warning restore IDE1006

    // Guards behind the first. A thread that holds one array at a time needs only the first.
    private readonly ArrayGuard?[] _guards = new ArrayGuard?[KeptGuards];
    private readonly Thread _thread = Thread.CurrentThread;
    private ArrayGuard? _firstGuard;
    private int _guardCount;
    private ArrayCounts _counts;

    /// <summary>Gets the source that it is a part of; null once that is closed.</summary>
    public ArraySource? Source { get; private set; }

    public bool IsOfLiveThread => _thread.IsAlive;

    public ref ArrayCounts Counts => ref _counts;

    /// <summary>Returns the current thread's cache for a source, or null if it has none yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ThreadCache? Find(ArraySource source)
    {
        ThreadCache? last = t_last;
        return last is null || last.Source == source ? last : FindOther(source);
    }

    /// <summary>Makes it the current thread's cache for a source.</summary>
    public void Enter(ArraySource source)
    {
        (t_all ??= new ConditionalWeakTable<ArraySource, ThreadCache>()).Add(source, this);
        Source = source;
        t_last = this;
    }

    /// <summary>Drops all it references, so that its thread keeps no closed source alive. Called by any thread.</summary>
    public void Close()
    {
        Source = null;
        _firstGuard = null;
        Array.Clear(_guards, 0, _guards.Length);
    }

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

    public void KeepGuard(ArrayGuard guard)
    {
        if (_firstGuard is null)
        {
            _firstGuard = guard;
        }
        else if ((uint)_guardCount < (uint)_guards.Length)
        {
            _guards[_guardCount++] = guard;
        }
    }

    // Volatile, so that 32-bit readers see no torn count, and see the counts of one rent in order.
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

    /// <summary>Moves the counts of an ended thread to the shared ones, so that nothing is counted twice.</summary>
    public void MoveTo(ref ArrayCounts counts)
    {
        Interlocked.Add(ref counts.Rents, _counts.Rents);
        Interlocked.Add(ref counts.RentedBytes, _counts.RentedBytes);
        Interlocked.Add(ref counts.Returns, _counts.Returns);
        Interlocked.Add(ref counts.ReturnedBytes, _counts.ReturnedBytes);
        _counts = default;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ThreadCache? FindOther(ArraySource source) =>
        t_all!.TryGetValue(source, out ThreadCache? cache) && cache.Source == source ? t_last = cache : null;
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

    /// <summary>Adds the rents. Another thread may be writing them meanwhile, as in the method below.</summary>
    public void AddRentsTo(ref ArrayCounts sum)
    {
        sum.Rents += Volatile.Read(ref Rents);
        sum.RentedBytes += Volatile.Read(ref RentedBytes);
    }

    public void AddReturnsTo(ref ArrayCounts sum)
    {
        sum.Returns += Volatile.Read(ref Returns);
        sum.ReturnedBytes += Volatile.Read(ref ReturnedBytes);
    }
}
