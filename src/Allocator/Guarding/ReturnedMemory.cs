namespace Allocator.Guarding;

/// <summary>A queue of returned memory that is inaccessible while it waits. Bounded by number and by bytes. Thread-safe.</summary>
internal sealed class ReturnedMemory(int maximumCount, long maximumBytes)
{
    private readonly ShortLock _lock = new();

    // At full size, so that adding never fails. For a moment it holds one above the bound.
    private readonly Queue<GuardedMapping> _queue = new(maximumCount + 1);
    private long _bytes;
    private bool _closed;

    /// <summary>Returns whether that many bytes could ever be kept.</summary>
    public bool HasRoomFor(long bytes)
    {
        using ShortLock.Section section = _lock.Enter();
        return !_closed && bytes <= maximumBytes;
    }

    /// <summary>Adds a mapping. If the queue is closed, or above its bound, this returns false and changes nothing.</summary>
    public bool TryAdd(GuardedMapping memory)
    {
        using ShortLock.Section section = _lock.Enter();
        if (_closed || _queue.Count > maximumCount)
        {
            return false;
        }

        _queue.Enqueue(memory);
        _bytes += memory.Layout.BodyInBytes;
        return true;
    }

    /// <summary>Takes the oldest mapping. Null if there is none; also within the bounds, if only surplus is wanted.</summary>
    public GuardedMapping? TryTake(bool surplusOnly = false)
    {
        using ShortLock.Section section = _lock.Enter();
        if (_queue.Count == 0 || (surplusOnly && _queue.Count <= maximumCount && _bytes <= maximumBytes))
        {
            return null;
        }

        GuardedMapping memory = _queue.Dequeue();
        _bytes -= memory.Layout.BodyInBytes;
        return memory;
    }

    public void Close()
    {
        using ShortLock.Section section = _lock.Enter();
        _closed = true;
    }
}
