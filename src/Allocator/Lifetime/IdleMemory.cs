using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>Memory of one kind that is not rented. The next rent may take it, or the system gets it back. Thread-safe.</summary>
internal interface IIdleMemory
{
    /// <summary>
    /// Releases a part, rounded up, of the memory idle since the call before the last one. Returns the bytes. One call at a time.
    /// </summary>
    long TrimStale(double rate);

    /// <summary>Releases at least so many bytes, or all there are. Returns the bytes.</summary>
    long Release(long bytes);
}

/// <summary>All idle memory of one allocator, the cheapest to get back first. Code that makes room calls only this.</summary>
internal sealed class IdleMemory(AllocatorCounters counters, params IIdleMemory[] kinds)
{
    /// <inheritdoc cref="IIdleMemory.TrimStale"/>
    public long TrimStale(double rate, in MemoryLoad load)
    {
        long bytes = 0;
        foreach (IIdleMemory kind in kinds)
        {
            bytes += kind.TrimStale(rate);
        }

        counters.CountTrim(TrimReason.Period, bytes, load);
        return bytes;
    }

    /// <summary>Releases at least so many bytes, or all there are. Returns the bytes.</summary>
    public long Release(long bytes, TrimReason reason, in MemoryLoad load = default)
    {
        long released = 0;
        foreach (IIdleMemory kind in kinds)
        {
            released += released < bytes ? kind.Release(bytes - released) : 0;
        }

        counters.CountTrim(reason, released, load);
        return released;
    }

    public long ReleaseAll(TrimReason reason, in MemoryLoad load = default) => Release(long.MaxValue, reason, load);
}
