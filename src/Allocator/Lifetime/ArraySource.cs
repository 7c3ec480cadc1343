using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Rents arrays of <see cref="ArrayPool{T}.Shared"/> for one allocator, and counts them by thread, without interlocked operations: a
/// shared counter would cost as much as the rent. Only threads that rent have such counts; others add to shared ones. Reading sums over
/// the threads; it is exact while none of them allocates. Returning takes no lock.
/// </summary>
internal sealed class ArraySource
{
    private readonly ThreadCaches _caches;
    private readonly bool _clearOnReturn;
    private readonly string? _allocatorName;

    // Counts for threads without a cache, and for ended threads. In an array, apart from the fields that every rent reads.
    private readonly ArrayCounts[] _ofOthers = new ArrayCounts[1];

    public ArraySource(MemoryAllocatorOptions options)
    {
        _caches = new ThreadCaches(this);
        _clearOnReturn = options.ClearOnReturn;
        _allocatorName = options.Name;
    }

    /// <summary>Rents an array of at least that many bytes, and begins the rent.</summary>
    public ArrayGuard Rent(int lengthInBytes, bool clean, out long generation)
    {
        ThreadCache cache = _caches.Find() ?? _caches.FindOrAdd();
        byte[] array = ArrayPool<byte>.Shared.Rent(lengthInBytes);
        if (clean)
        {
            array.AsSpan(0, lengthInBytes).Clear();
        }

        ArrayGuard guard = cache.TakeGuard() ?? new ArrayGuard(cache);
        if (Tracing.Arrays)
        {
            guard.BeginTrace(array, lengthInBytes, _allocatorName);
        }

        generation = guard.Begin(array, lengthInBytes);

        // Last, because nothing fails after it.
        cache.CountRent(array.Length);
        return guard;
    }

    /// <summary>Takes back an array after its rent, with the current thread's cache if the caller knows it. Never fails.</summary>
    public void Return(byte[] array, ArrayGuard guard, ThreadCache? cache)
    {
        try
        {
            cache ??= _caches.Find();
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
            CountWithoutCache(array.Length);
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
        using (_caches.Lock.Enter())
        {
            // All returns before any rent: an array that is rented and returned meanwhile, on two threads, then counts as outstanding and
            // never as less than nothing.
            ArrayCounts sum = default;
            _ofOthers[0].AddReturnsTo(ref sum);
            foreach ((_, ThreadCache cache) in _caches.All)
            {
                cache.Counts.AddReturnsTo(ref sum);
            }

            foreach ((_, ThreadCache cache) in _caches.All)
            {
                cache.Counts.AddRentsTo(ref sum);
            }

            _ofOthers[0].AddRentsTo(ref sum);
            return sum;
        }
    }

    /// <summary>Adds the counts of an ended thread. Under the lock of the caches.</summary>
    public void TakeOver(ThreadCache ended)
    {
        Debug.Assert(ended.Source == this);
        ended.MoveTo(ref _ofOthers[0]);
    }

    /// <summary>Removes what threads keep for this source. No rent follows; returns are still counted.</summary>
    public void Close() => _caches.Close();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CountWithoutCache(int bytes)
    {
        Interlocked.Add(ref _ofOthers[0].ReturnedBytes, bytes);
        Interlocked.Increment(ref _ofOthers[0].Returns);
    }
}
