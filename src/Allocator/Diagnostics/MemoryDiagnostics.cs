using System;
using System.Collections.Generic;
using System.Threading;

namespace Allocator.Diagnostics;

/// <summary>Watches over the memory of all allocators in the process. Thread-safe.</summary>
public static partial class MemoryDiagnostics
{
    private static readonly List<WeakReference<IAllocationSource>> s_sources = [];
    private static long s_abandonedAllocations;
    private static EventHandler<AbandonedMemoryEventArgs>? s_allocationAbandoned;

    /// <summary>
    /// Raised on the thread pool for every allocation that is found unreachable without <c>Dispose</c>.
    /// While somebody is subscribed, every allocation above 1 MiB captures its stack, which costs far more than the allocation itself.
    /// </summary>
    /// <remarks>What a handler throws is swallowed: somebody who listens must not take the process down.</remarks>
    public static event EventHandler<AbandonedMemoryEventArgs>? AllocationAbandoned
    {
        add => Change(static (all, one) => all + one, value);
        remove => Change(static (all, one) => all - one, value);
    }

    /// <summary>
    /// Gets how many allocations of all allocators are out: not disposed, or disposed and still pinned. This counts what is alive; what leaked is in <see cref="AbandonedAllocations"/>.
    /// </summary>
    /// <remarks>
    /// Reading it walks over all allocators. A buffer of up to 1 MiB that was dropped without <c>Dispose</c> is collected with its array and stays in this count as long as its allocator lives.
    /// </remarks>
    public static long OutstandingAllocations
    {
        get
        {
            long sum = 0;
            lock (s_sources)
            {
                foreach (WeakReference<IAllocationSource> reference in s_sources)
                {
                    sum += reference.TryGetTarget(out IAllocationSource? source) ? source.OutstandingAllocations : 0;
                }
            }

            return sum;
        }
    }

    /// <summary>Gets how many allocations above 1 MiB were found unreachable without <c>Dispose</c> since the process started.</summary>
    public static long AbandonedAllocations => Interlocked.Read(ref s_abandonedAllocations);

    /// <summary>Gets whether allocations have to keep the stack of their caller.</summary>
    internal static bool CapturesStacks { get; private set; }

    /// <summary>Adds a source to those counted, for as long as it lives.</summary>
    internal static void Register(IAllocationSource source)
    {
        lock (s_sources)
        {
            s_sources.RemoveAll(static reference => !reference.TryGetTarget(out _));
            s_sources.Add(new WeakReference<IAllocationSource>(source));
        }
    }

    internal static void CountAbandoned() => Interlocked.Increment(ref s_abandonedAllocations);

    /// <summary>Tells the subscribers, on the thread pool. Called by finalizers.</summary>
    internal static void ReportAbandoned(AbandonedMemoryEventArgs report)
    {
        if (Volatile.Read(ref s_allocationAbandoned) is not null)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => Raise((AbandonedMemoryEventArgs)state!), report);
        }
    }

    private static void Raise(AbandonedMemoryEventArgs report)
    {
        foreach (Delegate handler in Volatile.Read(ref s_allocationAbandoned)?.GetInvocationList() ?? [])
        {
            try
            {
                ((EventHandler<AbandonedMemoryEventArgs>)handler)(null, report);
            }
            catch (Exception)
            {
                // See the remarks of the event.
            }
        }
    }

    private static void Change(
        Func<EventHandler<AbandonedMemoryEventArgs>?, EventHandler<AbandonedMemoryEventArgs>?, EventHandler<AbandonedMemoryEventArgs>?> change,
        EventHandler<AbandonedMemoryEventArgs>? handler)
    {
        lock (s_sources)
        {
            Volatile.Write(ref s_allocationAbandoned, change(s_allocationAbandoned, handler));
            CapturesStacks = s_allocationAbandoned is not null;
        }
    }
}
