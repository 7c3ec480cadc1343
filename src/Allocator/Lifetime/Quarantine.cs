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

    public Quarantine(Clock clock) => _clock = clock;

    public bool IsEmpty => Volatile.Read(ref _newest) is null;

    /// <summary>Gets when the first entry may leave; null where there is none.</summary>
    public long? EarliestDueMilliseconds
    {
        get
        {
            long? earliest = null;
            for (Entry? entry = Volatile.Read(ref _newest); entry is not null; entry = entry.Next)
            {
                earliest = Math.Min(earliest ?? long.MaxValue, entry.DueMilliseconds);
            }

            return earliest;
        }
    }

    /// <summary>Gets or sets what is called, on the thread pool, after something was added: somebody has to look again later.</summary>
    public Action? Added { get; set; }

    public void Add(NativeGuard guard, long milliseconds)
    {
        Push(new Entry(guard, GC.CollectionCount(2), _clock.NowMilliseconds + milliseconds));
        if (Added is Action added)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => ((Action)state!)(), added);
        }
    }

    /// <summary>Hands back all that has stayed long enough.</summary>
    public void ReleaseExpired() => Release(GC.CollectionCount(2), _clock.NowMilliseconds);

    /// <summary>As <see cref="ReleaseExpired"/>, with the count of Gen2 collections and the time given.</summary>
    public void Release(int collections, long nowMilliseconds)
    {
        Entry? entry = Interlocked.Exchange(ref _newest, null);
        while (entry is not null)
        {
            Entry? next = entry.Next;
            if (collections > entry.CollectionsWhenAdded && nowMilliseconds >= entry.DueMilliseconds)
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
        public Entry(NativeGuard guard, int collectionsWhenAdded, long dueMilliseconds)
        {
            Guard = guard;
            CollectionsWhenAdded = collectionsWhenAdded;
            DueMilliseconds = dueMilliseconds;
        }

        public NativeGuard Guard { get; }

        public int CollectionsWhenAdded { get; }

        public long DueMilliseconds { get; }

        public Entry? Next { get; set; }
    }
}
