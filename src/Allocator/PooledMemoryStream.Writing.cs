using Allocator.Adapters;

namespace Allocator;

/// <content>The buffer writer, and the common part of all ways to read and write.</content>
public sealed partial class PooledMemoryStream : IBufferWriter<byte>
{
    // The length that GetMemory returned last, and how much of it Advance may still take: none after any other call.
    private int _given;
    private int _offered;

    // Separate memory, used if the block at the position had too little left. Advance copies it, or makes it the next block.
    private IMemoryOwner<byte>? _apart;
    private bool _isApartOffered;

    /// <summary>
    /// Returns memory to write to at the stream's position; <see cref="Advance"/> then takes the written bytes. It is usually the stream's
    /// own, and nothing is copied.
    /// </summary>
    /// <param name="sizeHint">The least length, in bytes, of any size; 0 for at least one.</param>
    /// <returns>Memory of that length at least, of unspecified content. Not to be used after any call but <see cref="Advance"/>.</returns>
    /// <remarks>
    /// If the block at the position has less left, separate memory is rented, once. If <see cref="Advance"/> then takes more than was left
    /// in the block, that memory becomes the stream's next block; otherwise its bytes are copied.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <inheritdoc cref="Write(byte[], int, int)" path="/exception[not(contains(@cref, 'Argument'))]"/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Throw.IfNegative(sizeHint, nameof(sizeHint));
        ThrowIfDisposed();
        _given = _offered = 0;
        StreamMemory memory = _memory!;
        int wanted = Math.Max(sizeHint, 1);
        long end = EndOf(wanted);
        bool isAppended = end > memory.Capacity && _position >= _length;
        if (end > memory.Capacity)
        {
            memory.ThrowIfHopeless(end);
            memory.Grow(isAppended ? _position : end, withReserve: !isAppended);
        }

        Memory<byte> room = isAppended && _position == memory.Capacity ? default : memory.From(_position);
        _isApartOffered = room.Length < wanted;
        if (_isApartOffered)
        {
            bool isNext = room.IsEmpty;
            room = RentApart(memory, wanted);
            if (isNext)
            {
                TakeApart(memory, 0);
                room = memory.From(_position);
            }
        }
        else
        {
            DropApart();
        }

        _given = _offered = room.Length;
        return room;
    }

    /// <summary>As <see cref="GetMemory"/>.</summary>
    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>
    /// Takes so many more of the bytes that <see cref="GetMemory"/> or <see cref="GetSpan"/> returned last into the stream, and moves the
    /// position behind them. May be called repeatedly, up to the length that was returned.
    /// </summary>
    /// <param name="count">From 0 to the bytes left of it.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">
    /// <paramref name="count"/> is more than is left; or another member of the stream was called since, after which nothing is left.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public void Advance(int count)
    {
        Throw.IfNegative(count, nameof(count));
        ThrowIfDisposed();
        if (count > _offered)
        {
            Throw.AdvancedTooFar(count, _offered);
        }

        if (count == 0)
        {
            return;
        }

        StreamMemory memory = _memory!;
        FillTo(memory, _position);
        if (_isApartOffered)
        {
            int start = _given - _offered;
            if (_position + count > memory.Capacity)
            {
                TakeApart(memory, start);
            }
            else
            {
                memory.Write(_position, _apart!.Memory.Span.Slice(start, count));
            }
        }

        MoveBehind(count);
        _offered -= count;
    }

    // Both have done their work when they return. They are async only so that an exception becomes a failed task.
    private async ValueTask<int> ReadNowAsync(Memory<byte> destination, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ReadBytes(destination.Span);
    }

    private async ValueTask WriteNowAsync(ReadOnlyMemory<byte> source, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        WriteBytes(source.Span);
    }

    private int ReadBytes(Span<byte> destination)
    {
        StreamMemory memory = Use();
        int count = (int)Math.Min(Math.Max(0, _length - _position), destination.Length);
        memory.Read(_position, destination.Slice(0, count));
        _position += count;
        return count;
    }

    private void WriteBytes(ReadOnlySpan<byte> source)
    {
        MakeRoom(source.Length).Write(_position, source);
        MoveBehind(source.Length);
    }

    private StreamMemory MakeRoom(int count)
    {
        StreamMemory memory = Use();
        long end = EndOf(count);
        memory.ThrowIfHopeless(end);
        FillTo(memory, _position);
        if (end > memory.Capacity)
        {
            memory.Grow(end, withReserve: true);
        }

        return memory;
    }

    private void MoveBehind(int written)
    {
        _position += written;
        _length = Math.Max(_length, _position);
    }

    // Puts zeros between the end and a position beyond it. New memory for them comes zeroed, so fresh pages of the system stay untouched.
    private void FillTo(StreamMemory memory, long position)
    {
        if (position > _length)
        {
            long known = Math.Min(position, memory.Capacity);
            if (position > memory.Capacity)
            {
                memory.Grow(position, clean: true);
            }

            memory.Clear(_length, known);
        }
    }

    private long EndOf(int count)
    {
        if (count > long.MaxValue - _position)
        {
            Throw.StreamTooLong(_position, count);
        }

        return _position + count;
    }

    private Memory<byte> RentApart(StreamMemory memory, int length)
    {
        if (_apart is null || _apart.Memory.Length < length)
        {
            DropApart();
            try
            {
                _apart = memory.RentApart(length);
            }
            catch
            {
                // The memory added for it is useless now.
                memory.Shrink(_length);
                throw;
            }
        }

        // No more than there is room for: memory kept from before, or from another pool, may be longer.
        return _apart.Memory.Slice(0, length);
    }

    // Makes memory that lies apart the stream's own, from the position on.
    private void TakeApart(StreamMemory memory, int start)
    {
        Debug.Assert(_apart is not null && _isApartOffered, "There is memory apart, and it is what GetMemory returned.");
        memory.Append(_position, _apart!, start);
        _apart = null;
        _isApartOffered = false;
    }

    private void DropApart()
    {
        // Forgotten first: if it turns out to be corrupted, the next one is rented anew.
        IMemoryOwner<byte>? apart = _apart;
        _apart = null;
        apart?.Dispose();
    }

    // Calls that read, write or seek begin here: earlier results of GetMemory are invalid after them.
    private StreamMemory Use()
    {
        _offered = 0;
        ThrowIfDisposed();
        DropApart();
        return _memory!;
    }

    private void ThrowIfDisposed() => Throw.IfDisposed(_memory is null, nameof(PooledMemoryStream));

    private static void CopyBlocks(StreamMemory memory, long start, long end, Stream destination)
    {
        while (start < end)
        {
            ReadOnlyMemory<byte> rest = memory.From(start, end);
            destination.Write(rest.Span);
            start += rest.Length;
        }
    }

    private static async Task CopyBlocksAsync(
        StreamMemory memory, long start, long end, Stream destination, CancellationToken cancellationToken)
    {
        while (start < end)
        {
            ReadOnlyMemory<byte> rest = memory.From(start, end);
            await destination.WriteAsync(rest, cancellationToken).ConfigureAwait(false);
            start += rest.Length;
        }
    }

    private static void ThrowIfNotCopy(Stream destination, int bufferSize)
    {
        Throw.IfNull(destination, nameof(destination));
        Throw.IfBelowOne(bufferSize, nameof(bufferSize));
        if (!destination.CanWrite)
        {
            Throw.IfDisposed(!destination.CanRead, destination.GetType().Name);
            throw new NotSupportedException($"{nameof(destination)} cannot be written to. Pass a stream whose CanWrite is true.");
        }
    }

    private static Memory<byte> MemoryOf(byte[] buffer, int offset, int count)
    {
        Throw.IfNull(buffer, nameof(buffer));
        Throw.IfNegative(offset, nameof(offset));
        Throw.IfNegative(count, nameof(count));
        if (count > buffer.Length - offset)
        {
            Throw.OutOfRange(
                nameof(count), count, $"must be at most {Math.Max(0, buffer.Length - offset)}, which the buffer has from {offset} on");
        }

        return new Memory<byte>(buffer, offset, count);
    }
}
