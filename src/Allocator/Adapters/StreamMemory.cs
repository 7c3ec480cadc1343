namespace Allocator.Adapters;

/// <summary>The bytes behind a stream, in blocks of any length, found by their position. Not thread-safe.</summary>
internal abstract class StreamMemory(long capacity = 0) : IDisposable
{
    // The block used last, because most streams are read and written in order.
    private Memory<byte> _block;
    private long _blockStart;

    public long Capacity { get; protected set; } = capacity;

    /// <summary>Gets the position at which memory of <see cref="Apart"/> begins, if it is a block of the stream.</summary>
    public virtual long ApartFrom => Capacity;

    /// <summary>Returns the bytes from a position to the end of its block.</summary>
    public Memory<byte> From(long position)
    {
        Debug.Assert(position >= 0, "A position is not negative; it is beyond the end only if the stream became shorter meanwhile.");
        long offset = position - _blockStart;
        if ((ulong)offset >= (ulong)_block.Length)
        {
            _block = Find(position, out _blockStart);
            offset = position - _blockStart;
        }

        return _block.Slice((int)offset);
    }

    /// <summary>Returns the bytes from a position to an end, or to the end of its block.</summary>
    public Memory<byte> From(long position, long end)
    {
        Memory<byte> rest = From(position);
        return rest.Length <= end - position ? rest : rest.Slice(0, (int)(end - position));
    }

    /// <summary>Makes a sequence of the first bytes, over the blocks themselves.</summary>
    public ReadOnlySequence<byte> AsSequence(long length)
    {
        Debug.Assert(length <= Capacity, "There are as many.");
        if (length == 0)
        {
            return ReadOnlySequence<byte>.Empty;
        }

        Segment first = new(From(0), null);
        Segment last = first;
        while (last.End < length)
        {
            last = new Segment(From(last.End), last);
        }

        return new ReadOnlySequence<byte>(first, 0, last, (int)(length - last.RunningIndex));
    }

    /// <summary>Throws if there can never be room for that many bytes.</summary>
    public virtual void ThrowIfHopeless(long capacity)
    {
    }

    /// <summary>
    /// Makes room for at least that many bytes. If it throws, nothing has changed. <paramref name="clean"/>: new blocks must be zero.
    /// <paramref name="withReserve"/>: more will follow, so blocks grow and stay few.
    /// </summary>
    public abstract void Grow(long capacity, bool clean = false, bool withReserve = false);

    /// <summary>Returns the blocks that are wholly beyond a length.</summary>
    public virtual void Shrink(long length)
    {
    }

    /// <summary>
    /// Returns contiguous memory that the stream has no content in: of a block that begins at or behind a position, or beside the stream.
    /// Blocks behind the position that are too short for it go.
    /// </summary>
    public abstract Memory<byte> Apart(long position, int length);

    /// <summary>
    /// Makes the block of <see cref="Apart"/> the next one at a position. There is no content from that position on: other memory goes.
    /// </summary>
    public virtual void Join(long position) => throw new NotSupportedException();

    public void Read(long position, Span<byte> destination)
    {
        Span<byte> part = destination.IsEmpty ? default : From(position).Span;
        if (part.Length >= destination.Length)
        {
            part.Slice(0, destination.Length).CopyTo(destination);
        }
        else
        {
            PieceCopy.Copy(new Pieces(this, position), destination);
        }

        GC.KeepAlive(this);
    }

    public void Write(long position, ReadOnlySpan<byte> source)
    {
        Span<byte> part = source.IsEmpty ? default : From(position).Span;
        if (part.Length >= source.Length)
        {
            source.CopyTo(part);
        }
        else
        {
            PieceCopy.Copy(source, new Pieces(this, position));
        }

        GC.KeepAlive(this);
    }

    /// <summary>Copies some bytes to another stream, which may be over the same memory.</summary>
    public void CopyTo(long position, StreamMemory destination, long destinationPosition, long length)
    {
        if (length > 0)
        {
            PieceCopy.Copy(new Pieces(this, position), new Pieces(destination, destinationPosition), length);
        }
    }

    public void Clear(long position, long end)
    {
        while (position < end)
        {
            Span<byte> part = From(position, end).Span;
            part.Clear();
            position += part.Length;
        }

        GC.KeepAlive(this);
    }

    public abstract void Dispose();

    protected abstract Memory<byte> Find(long position, out long start);

    /// <summary>Called when blocks are returned: the one used last may be among them.</summary>
    protected void ForgetBlock()
    {
        _block = default;
        _blockStart = 0;
    }

    private readonly struct Pieces(StreamMemory memory, long start) : IPieces
    {
        public Span<byte> From(long position) => memory.From(start + position).Span;
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, Segment? before)
        {
            Memory = memory;
            RunningIndex = before?.End ?? 0;
            before?.Next = this;
        }

        public long End => RunningIndex + Memory.Length;
    }
}

/// <summary>The bytes of a group. Cannot grow.</summary>
internal sealed class GroupMemory(MemoryGroup<byte> group, bool leaveOpen) : StreamMemory(group.TotalLength)
{
    private IMemoryOwner<byte>? _apart;

    public override void ThrowIfHopeless(long capacity)
    {
        if (capacity > Capacity)
        {
            Grow(capacity);
        }
    }

    public override void Grow(long capacity, bool clean = false, bool withReserve = false) => throw new NotSupportedException(
        Invariant($"The stream is over memory of {Capacity:N0} bytes, and cannot grow. CreateStream makes one that can."));

    // Beside the stream. The group does not know its allocator.
    public override Memory<byte> Apart(long position, int length)
    {
        if (_apart is null || _apart.Memory.Length < length)
        {
            _apart?.Dispose();
            _apart = null;
            _apart = MemoryPool<byte>.Shared.Rent(length);
        }

        // No more than there is room for.
        return _apart.Memory.Slice(0, length);
    }

    public override void Dispose()
    {
        ForgetBlock();
        _apart?.Dispose();
        if (!leaveOpen)
        {
            group.Dispose();
        }
    }

    protected override Memory<byte> Find(long position, out long start)
    {
        int index = (int)(position / group.BlockLength);
        start = (long)index * group.BlockLength;
        return group[index];
    }
}
