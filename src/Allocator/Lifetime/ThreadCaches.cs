namespace Allocator.Lifetime;

/// <summary>
/// The caches of one owner, one for each thread that has dealt with it. The current thread's is found by one thread-static read and an
/// index.
/// </summary>
internal sealed class ThreadCaches : IBackgroundWork
{
    private static readonly ShortLock s_indexes = new(mayAllocate: true);
    private static readonly Stack<int> s_freeIndexes = new();
    private static int s_indexCount;

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static ThreadCache?[]? t_caches;

    // Strongly referenced from here only: collected when the thread has ended.
    [ThreadStatic]
    private static ThreadLife? t_life;
#pragma warning restore IDE1006

    private readonly ArraySource _source;
    private readonly int _index = -1;
    private (WeakReference<object> Life, ThreadCache Cache)[] _all = [];
    private bool _isClosed;
    private BackgroundState _work;

    public ThreadCaches(ArraySource source)
    {
        _source = source;
        using (s_indexes.Enter())
        {
            _index = s_freeIndexes.Count > 0 ? s_freeIndexes.Pop() : s_indexCount++;
        }
    }

    ~ThreadCaches()
    {
        if (_index >= 0)
        {
            BackgroundThread.Shared.Run(this);
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets the lock under which caches are added and ended ones removed.</summary>
    public ShortLock Lock { get; } = new(mayAllocate: true);

    /// <summary>Gets all caches. The array is never changed, only replaced.</summary>
    public (WeakReference<object> Life, ThreadCache Cache)[] All => Volatile.Read(ref _all);

    /// <summary>Returns the current thread's cache, or null if it has none yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ThreadCache? Find()
    {
        ThreadCache?[]? caches = t_caches;
        int index = _index;
        return caches is not null && (uint)index < (uint)caches.Length && caches[index] is ThreadCache cache && cache.Source == _source
            ? cache
            : null;
    }

    /// <summary>Returns or makes the current thread's cache. Forgets the caches of ended threads, but not their counts.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public ThreadCache FindOrAdd()
    {
        ThreadLife life = t_life ??= new ThreadLife();
        if (t_caches is null || t_caches.Length <= _index)
        {
            Array.Resize(ref t_caches, Math.Max(_index + 1, Math.Max(4, 2 * life.Caches.Length)));
            life.Caches = t_caches;
        }

        ThreadCache? cache = null;
        using (Lock.Enter())
        {
            List<(WeakReference<object> Life, ThreadCache Cache)> kept = new(_all.Length + 1);
            foreach ((WeakReference<object> Life, ThreadCache Cache) entry in _all)
            {
                if (entry.Life == life.Self)
                {
                    // Another owner with the same index had taken its place.
                    cache = entry.Cache;
                }

                if (entry.Life.TryGetTarget(out _))
                {
                    kept.Add(entry);
                }
                else
                {
                    _source.TakeOver(entry.Cache);
                }
            }

            if (cache is null)
            {
                cache = new ThreadCache(_source);
                kept.Add((life.Self, cache));
            }

            Volatile.Write(ref _all, kept.ToArray());
        }

        t_caches![_index] = cache;
        return cache;
    }

    /// <summary>
    /// Removes the caches from their threads, which live on, and frees the index for another owner. If a thread adds a cache at this
    /// moment, it keeps it until the other owner needs the place. A call that failed may be repeated.
    /// </summary>
    public void Close()
    {
        foreach ((WeakReference<object> reference, ThreadCache cache) in All)
        {
            if (reference.TryGetTarget(out object? life) && ((ThreadLife)life).Caches is ThreadCache?[] caches && _index < caches.Length)
            {
                Interlocked.CompareExchange(ref caches[_index], null, cache);
            }
        }

        using (s_indexes.Enter())
        {
            if (!_isClosed)
            {
                s_freeIndexes.Push(_index);
                _isClosed = true;
            }
        }

        GC.SuppressFinalize(this);
    }

    void IBackgroundWork.DoWork() => Close();

    /// <summary>An object that lives as long as its thread.</summary>
    private sealed class ThreadLife
    {
        public ThreadLife() => Self = new WeakReference<object>(this);

        /// <summary>Gets the weak reference that all owners share. While the thread lives it is reachable, also for finalizers.</summary>
        public WeakReference<object> Self { get; }

        /// <summary>Gets or sets the thread's caches, by the indexes of their owners.</summary>
        public ThreadCache?[] Caches { get; set; } = [];
    }
}
