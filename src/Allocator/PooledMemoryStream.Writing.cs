using Allocator.Adapters;

namespace Allocator;

/// <content>The buffer writer, and the common part of all ways to read and write.</content>
public sealed partial class PooledMemoryStream : IBufferWriter<byte>
{
    // How much of the memory that GetMemory returned last Advance may still take: nothing after any other call.
    private int _offered;

    // That memory, if it is not at the position: the block there had too little left. Advance copies it, or makes it the next block.
    private Memory<byte> _apart;

    /// <summary>
    /// Returns memory to write to at the stream's position; <see cref="Advance"/> then takes the written bytes. It is usually the stream's
    /// own, and nothing is copied.
    /// </summary>
    /// <param name="sizeHint">The minimum length in bytes; 0 for at least one.</param>
    /// <returns>Memory of that length at least, of unspecified content. Not to be used after any call but <see cref="Advance"/>.</returns>
    /// <remarks>
    /// If the block at the position has less left, the memory is a further block. If <see cref="Advance"/> then takes more than was left,
    /// that becomes the stream's next block; otherwise its bytes are copied. It stays with the stream until the stream becomes shorter.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <inheritdoc cref="Write(byte[], int, int)" path="/exception[not(contains(@cref, 'Argument'))]"/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Throw.IfNegative(sizeHint, nameof(sizeHint));
        StreamMemory memory = Use();
        int wanted = Math.Max(sizeHint, 1);
        long end = EndOf(wanted);
        long behind = _position;
        if (_position < _length)
        {
            // What follows is content, unless Advance takes all of it.
            behind = Math.Max(_length, end);
        }

        memory.ThrowIfHopeless(end);
        if (behind > memory.Capacity)
        {
            memory.Grow(behind);
        }

        Memory<byte> room = _position < memory.Capacity ? memory.From(_position) : default;
        if (room.Length < wanted)
        {
            room = memory.Apart(behind, wanted);
            _apart = memory.ApartFrom == _position ? default : room;
        }

        _offered = room.Length;
        return room;
    }

    /// <summary>As <see cref="GetMemory"/>.</summary>
    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>
    /// Adds the next <paramref name="count"/> bytes of what <see cref="GetMemory"/> or <see cref="GetSpan"/> returned last to the stream,
    /// and moves the position behind them. May be called repeatedly, up to the returned length.
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
        if (!_apart.IsEmpty)
        {
            int start = _apart.Length - _offered;
            if (_position + count > memory.ApartFrom)
            {
                memory.Join(_position - start);
                _apart = default;
            }
            else
            {
                memory.Write(_position, _apart.Span.Slice(start, count));
            }
        }

        MoveBehind(count);
        _offered -= count;
    }

    // Both methods have done their work when they return. They are async only so that an exception becomes a failed task.
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

    private StreamMemory MakeRoom(long count)
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

    private void MoveBehind(long written)
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

    private long EndOf(long count)
    {
        if (count > long.MaxValue - _position)
        {
            Throw.StreamTooLong(_position, count);
        }

        return _position + count;
    }

    // Calls that read, write or seek begin here: earlier results of GetMemory are invalid after them.
    private StreamMemory Use()
    {
        _offered = 0;
        _apart = default;
        ThrowIfDisposed();
        return _memory!;
    }

    private void ThrowIfDisposed() => Throw.IfDisposed(_memory is null, nameof(PooledMemoryStream));

    private static void CopyBlocks(StreamMemory memory, long start, long end, Stream destination)
    {
        if (TryCopyToGroup(memory, start, end, destination))
        {
            return;
        }

        while (start < end)
        {
            ReadOnlyMemory<byte> rest = memory.From(start, end);
            destination.Write(rest.Span);
            start += rest.Length;
        }
    }

    // In one step: a stream over a group may be over memory of this one, and a block must not be overwritten before it is read.
    private static bool TryCopyToGroup(StreamMemory memory, long start, long end, Stream destination)
    {
        if (destination is not PooledMemoryStream { _memory: GroupMemory } other || start >= end)
        {
            return false;
        }

        memory.CopyTo(start, other.MakeRoom(end - start), other._position, end - start);
        other.MoveBehind(end - start);
        return true;
    }

    private static async Task CopyBlocksAsync(
        StreamMemory memory, long start, long end, Stream destination, CancellationToken cancellationToken)
    {
        if (TryCopyToGroup(memory, start, end, destination))
        {
            return;
        }

        while (start < end)
        {
            // Not every stream looks at the token.
            cancellationToken.ThrowIfCancellationRequested();
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
