namespace Allocator.Guarding;

/// <summary>A queue of returned memory that is inaccessible while it waits. Bounded by number and by bytes. Thread-safe.</summary>
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

        // At full size, so that adding never fails. For a moment it holds one above the bound.
        _queue = new Queue<GuardedMapping>(maximumCount + 1);
    }

    /// <summary>Returns whether that many bytes could ever be kept.</summary>
    public bool HasRoomFor(long bytes)
    {
        using (_lock.Enter())
        {
            return !_closed && bytes <= _maximumBytes;
        }
    }

    /// <summary>Adds a mapping. If the queue is closed, or above its bound, this returns false and changes nothing.</summary>
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

    /// <summary>Takes the oldest mapping; null if there is none.</summary>
    public GuardedMapping? TryTake()
    {
        using (_lock.Enter())
        {
            return Dequeue();
        }
    }

    /// <summary>Takes the oldest mapping if the queue is above its bound; otherwise null.</summary>
    public GuardedMapping? TryTakeSurplus()
    {
        using (_lock.Enter())
        {
            return _queue.Count > _maximumCount || _bytes > _maximumBytes ? Dequeue() : null;
        }
    }

    /// <summary>Refuses all further additions.</summary>
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
