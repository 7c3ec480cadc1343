using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Allocator.Lifetime;

/// <summary>One owner's shares, one for each thread that has dealt with it. The current thread's is found by one thread-static read and an index.</summary>
internal sealed class ThreadShares
{
    private static readonly object s_indexes = new();
    private static readonly Stack<int> s_freeIndexes = new();
    private static int s_indexCount;
    private static long s_lastSerial;

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static ThreadShare?[]? t_shares;

    // Referenced by nobody else: collected when the thread has ended.
    [ThreadStatic]
    private static object? t_life;
#pragma warning restore IDE1006

    private readonly int _index = -1;
    private (WeakReference<object> Life, ThreadShare Share)[] _all = [];

    public ThreadShares()
    {
        Serial = Interlocked.Increment(ref s_lastSerial);
        lock (s_indexes)
        {
            _index = s_freeIndexes.Count > 0 ? s_freeIndexes.Pop() : s_indexCount++;
        }
    }

    // The next owner of the index is told apart by its serial.
    ~ThreadShares()
    {
        if (_index < 0)
        {
            return;
        }

        lock (s_indexes)
        {
            s_freeIndexes.Push(_index);
        }
    }

    /// <summary>Gets a number that no other owner has had.</summary>
    public long Serial { get; }

    /// <summary>Gets the lock under which shares are added and ended ones removed.</summary>
    public object Lock { get; } = new();

    /// <summary>Gets all shares. The array is never changed, only replaced.</summary>
    public (WeakReference<object> Life, ThreadShare Share)[] All => Volatile.Read(ref _all);

    /// <summary>Gives the current thread's share, or null where it has none yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ThreadShare? Find()
    {
        ThreadShare?[]? shares = t_shares;
        int index = _index;
        return shares is not null && (uint)index < (uint)shares.Length && shares[index] is ThreadShare share && share.IsOf(Serial) ? share : null;
    }

    /// <summary>Gives the current thread's share, or makes it; and forgets those of ended threads as far as they may go.</summary>
    /// <param name="create">Makes a share of this owner.</param>
    /// <param name="mayGo">Called under <see cref="Lock"/> for each share of an ended thread; true where nothing is lost with it.</param>
    public ThreadShare FindOrAdd(Func<ThreadShares, ThreadShare> create, Func<ThreadShare, bool> mayGo)
    {
        if (t_shares is null || t_shares.Length <= _index)
        {
            Array.Resize(ref t_shares, Math.Max(_index + 1, 4));
        }

        object life = t_life ??= new object();
        ThreadShare? share = null;
        lock (Lock)
        {
            List<(WeakReference<object> Life, ThreadShare Share)> kept = new(_all.Length + 1);
            foreach ((WeakReference<object> Life, ThreadShare Share) entry in _all)
            {
                bool isAlive = entry.Life.TryGetTarget(out object? other);
                if (other == life)
                {
                    // Another owner of the same index had taken its place.
                    share = entry.Share;
                }

                if (isAlive || !mayGo(entry.Share))
                {
                    kept.Add(entry);
                }
            }

            if (share is null)
            {
                share = create(this);
                kept.Add((new WeakReference<object>(life), share));
            }

            Volatile.Write(ref _all, kept.ToArray());
        }

        t_shares![_index] = share;
        return share;
    }
}
