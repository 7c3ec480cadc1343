using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>Idle memory of one kind, for the next rent or to be released to the system. Thread-safe.</summary>
internal interface IIdleMemory
{
    /// <summary>
    /// Releases a part, rounded up, of the memory that has been idle since the previous call. Returns the bytes. One call at a time.
    /// </summary>
    long TrimStale(double rate);

    /// <summary>Releases at least the given bytes, or everything if there is less. Returns how many bytes were released.</summary>
    long Release(long bytes);
}

/// <summary>
/// All idle memory of one allocator. What is cheapest to replace is released first. Code that makes room calls only this.
/// </summary>
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

    /// <summary>Releases at least the given bytes, or everything if there is less. Returns how many bytes were released.</summary>
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
