using System;
using System.Threading;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Keeps abandoned memory from the next renter for at least one further Gen2 collection and one trim period: a span that outlived its owner may still point into it.
/// Adding is lock-free and allocates little, because finalizers do it.
/// </summary>
internal sealed class Quarantine
{
    private readonly Clock _clock;
    private Entry? _newest;
    private int _sweepsWanted;

    public Quarantine(Clock clock) => _clock = clock;

    /// <summary>Gets the shortest stay, in milliseconds, of what is here; null where nothing is.</summary>
    public long? ShortestStayMilliseconds
    {
        get
        {
            long? shortest = null;
            for (Entry? entry = Volatile.Read(ref _newest); entry is not null; entry = entry.Next)
            {
                shortest = Math.Min(shortest ?? long.MaxValue, entry.StayMilliseconds);
            }

            return shortest;
        }
    }

    /// <summary>Gets or sets what is called, on the thread pool, after something was added: somebody has to look again later.</summary>
    public Action? Added { get; set; }

    public void Add(NativeGuard guard, long milliseconds)
    {
        Push(new Entry(guard, GC.CollectionCount(2), _clock.NowMilliseconds, milliseconds));
        if (Added is Action added)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => ((Action)state!)(), added);
        }
    }

    /// <summary>Hands back all that has stayed long enough. Where another thread is at it already, that one looks once more.</summary>
    public void ReleaseExpired()
    {
        if (Interlocked.Increment(ref _sweepsWanted) != 1)
        {
            return;
        }

        int seen;
        do
        {
            seen = Volatile.Read(ref _sweepsWanted);
            try
            {
                Sweep(GC.CollectionCount(2), _clock.NowMilliseconds);
            }
            catch
            {
                // Or nobody would ever sweep again.
                Volatile.Write(ref _sweepsWanted, 0);
                throw;
            }
        }
        while (Interlocked.Add(ref _sweepsWanted, -seen) != 0);
    }

    private void Sweep(int collections, long nowMilliseconds)
    {
        Entry? entry = Interlocked.Exchange(ref _newest, null);
        while (entry is not null)
        {
            Entry? next = entry.Next;
            if (collections > entry.CollectionsWhenAdded && nowMilliseconds >= entry.AddedMilliseconds + entry.StayMilliseconds)
            {
                entry.Guard.Recycle();
            }
            else
            {
                Push(entry);
            }

            entry = next;
        }
    }

    private void Push(Entry entry)
    {
        Entry? newest;
        do
        {
            newest = Volatile.Read(ref _newest);
            entry.Next = newest;
        }
        while (Interlocked.CompareExchange(ref _newest, entry, newest) != newest);
    }

    private sealed class Entry
    {
        public Entry(NativeGuard guard, int collectionsWhenAdded, long addedMilliseconds, long stayMilliseconds)
        {
            Guard = guard;
            CollectionsWhenAdded = collectionsWhenAdded;
            AddedMilliseconds = addedMilliseconds;
            StayMilliseconds = stayMilliseconds;
        }

        public NativeGuard Guard { get; }

        public int CollectionsWhenAdded { get; }

        public long AddedMilliseconds { get; }

        public long StayMilliseconds { get; }

        public Entry? Next { get; set; }
    }
}
