namespace Allocator.Guarding;

/// <summary>The queue in which returned memory waits, inaccessible, bounded by number and by bytes. Thread-safe.</summary>
internal sealed class ReturnedMemory
{
    private readonly ShortLock _lock = new();
    private readonly Queue<GuardedMapping> _queue;
    private readonly int _maximumCount;
    private readonly long _maximumBytes;
    private long _bytes;
    private bool _closed;

    public ReturnedMemory(int maximumCount, long maximumBytes)
    {
        _maximumCount = maximumCount;
        _maximumBytes = maximumBytes;

        // In full, so that adding never fails. One above the bound is there for a moment.
        _queue = new Queue<GuardedMapping>(maximumCount + 1);
    }

    /// <summary>Gives whether that much could be kept at all.</summary>
    public bool HasRoomFor(long bytes)
    {
        using (_lock.Enter())
        {
            return !_closed && bytes <= _maximumBytes;
        }
    }

    /// <summary>Adds. False, and nothing changes, where the queue is closed, or has more than it may.</summary>
    public bool TryAdd(GuardedMapping memory)
    {
        using (_lock.Enter())
        {
            if (_closed || _queue.Count > _maximumCount)
            {
                return false;
            }

            _queue.Enqueue(memory);
            _bytes += memory.Layout.BodyInBytes;
            return true;
        }
    }

    /// <summary>Takes what has been here for longest; null where nothing is.</summary>
    public GuardedMapping? TryTake()
    {
        using (_lock.Enter())
        {
            return Dequeue();
        }
    }

    /// <summary>Takes what has been here for longest, where there is more than may be.</summary>
    public GuardedMapping? TryTakeSurplus()
    {
        using (_lock.Enter())
        {
            return _queue.Count > _maximumCount || _bytes > _maximumBytes ? Dequeue() : null;
        }
    }

    /// <summary>Refuses from here on what is added.</summary>
    public void Close()
    {
        using (_lock.Enter())
        {
            _closed = true;
        }
    }

    private GuardedMapping? Dequeue()
    {
        if (_queue.Count == 0)
        {
            return null;
        }

        GuardedMapping memory = _queue.Dequeue();
        _bytes -= memory.Layout.BodyInBytes;
        return memory;
    }
}
