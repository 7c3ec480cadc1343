using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Allocator.Lifetime;

/// <summary>One owner's shares, one for each thread that has dealt with it. The current thread's is found by one thread-static read and an index.</summary>
internal sealed class ThreadShares : IBackgroundWork
{
    private static readonly ShortLock s_indexes = new();
    private static readonly Stack<int> s_freeIndexes = new();
    private static int s_indexCount;
    private static long s_lastSerial;

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static ThreadShare?[]? t_shares;

    // Strongly referenced from here only: collected when the thread has ended.
    [ThreadStatic]
    private static ThreadLife? t_life;
#pragma warning restore IDE1006

    private readonly int _index = -1;
    private (WeakReference<object> Life, ThreadShare Share)[] _all = [];
    private bool _isClosed;
    private BackgroundState _work;

    public ThreadShares()
    {
        Serial = Interlocked.Increment(ref s_lastSerial);
        using (s_indexes.Enter())
        {
            _index = s_freeIndexes.Count > 0 ? s_freeIndexes.Pop() : s_indexCount++;
        }
    }

    ~ThreadShares()
    {
        if (_index >= 0)
        {
            Background.Run(this);
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets a number that no other owner has had.</summary>
    public long Serial { get; }

    /// <summary>Gets the lock under which shares are added and ended ones removed.</summary>
    public ShortLock Lock { get; } = new();

    /// <summary>Gets all shares. The array is never changed, only replaced.</summary>
    public (WeakReference<object> Life, ThreadShare Share)[] All => Volatile.Read(ref _all);

    /// <summary>Returns the current thread's share, or null where it has none yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ThreadShare? Find()
    {
        ThreadShare?[]? shares = t_shares;
        int index = _index;
        return shares is not null && (uint)index < (uint)shares.Length && shares[index] is ThreadShare share && share.IsOf(Serial) ? share : null;
    }

    /// <summary>Returns the current thread's share, or makes it; and forgets those of ended threads as far as they may go.</summary>
    /// <param name="create">Makes a share of this owner.</param>
    /// <param name="mayGo">Called under <see cref="Lock"/> for each share of an ended thread; true where nothing is lost with it.</param>
    public ThreadShare FindOrAdd(Func<ThreadShares, ThreadShare> create, Func<ThreadShare, bool> mayGo)
    {
        ThreadLife life = t_life ??= new ThreadLife();
        if (t_shares is null || t_shares.Length <= _index)
        {
            Array.Resize(ref t_shares, Math.Max(_index + 1, Math.Max(4, 2 * life.Shares.Length)));
            life.Shares = t_shares;
        }

        ThreadShare? share = null;
        using (Lock.Enter())
        {
            List<(WeakReference<object> Life, ThreadShare Share)> kept = new(_all.Length + 1);
            foreach ((WeakReference<object> Life, ThreadShare Share) entry in _all)
            {
                if (entry.Life == life.Self)
                {
                    // Another owner of the same index had taken its place.
                    share = entry.Share;
                }

                if (entry.Life.TryGetTarget(out _) || !mayGo(entry.Share))
                {
                    kept.Add(entry);
                }
            }

            if (share is null)
            {
                share = create(this);
                kept.Add((life.Self, share));
            }

            Volatile.Write(ref _all, kept.ToArray());
        }

        t_shares![_index] = share;
        return share;
    }

    /// <summary>Removes the shares from their threads, which live on, and leaves the index to another owner. The shares stay in <see cref="All"/>. A call that failed may be repeated.</summary>
    /// <remarks>A thread that adds a share at this moment may keep it, until another owner of the index takes its place. That owner is told apart by its serial.</remarks>
    public void Close()
    {
        foreach ((WeakReference<object> reference, ThreadShare share) in All)
        {
            if (reference.TryGetTarget(out object? life) && ((ThreadLife)life).Shares is ThreadShare?[] shares && _index < shares.Length)
            {
                Interlocked.CompareExchange(ref shares[_index], null, share);
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

    /// <summary>What lives as long as a thread.</summary>
    private sealed class ThreadLife
    {
        public ThreadLife() => Self = new WeakReference<object>(this);

        /// <summary>Gets the one weak reference, for all owners. While the thread lives it is reachable, so the finalizer of an owner may use it.</summary>
        public WeakReference<object> Self { get; }

        /// <summary>Gets or sets the thread's shares, by the indexes of their owners.</summary>
        public ThreadShare?[] Shares { get; set; } = [];
    }
}
