using Allocator.Adapters;

namespace Allocator;

/// <summary>
/// A stream over pooled memory, for codecs and other code that reads or writes streams; also an <see cref="IBufferWriter{T}"/>, which
/// writes at the stream's position. Created by <see cref="MemoryAllocator.CreateStream"/>, it grows block by block and never moves written
/// bytes; created by <see cref="MemoryGroupExtensions.AsStream"/>, it has a fixed length. Disposed by its owner.
/// </summary>
/// <remarks>
/// Behaves as <see cref="MemoryStream"/> does, except that it can be longer than 2 GB and that everything but <see cref="Flush"/>,
/// <c>FlushAsync</c>, <c>Dispose</c>, <see cref="ToString"/> and the properties <c>CanRead</c>, <c>CanSeek</c> and <c>CanWrite</c> throws
/// <see cref="ObjectDisposedException"/> after <c>Dispose</c>, which returns all memory. Its asynchronous methods complete at once, except
/// for copying to another stream. Not thread-safe, like any stream.
/// </remarks>
public sealed partial class PooledMemoryStream : Stream
{
    // The longest array of bytes: Array.MaxLength of newer runtimes.
    private const int LongestArray = 0x7FFFFFC7;

    // Null after Dispose.
    private StreamMemory? _memory;
    private long _position;
    private long _length;

    internal PooledMemoryStream(StreamMemory memory, long length)
    {
        _memory = memory;
        _length = length;
    }

    /// <summary>Gets whether the stream can be read: until it is disposed.</summary>
    public override bool CanRead => _memory is not null;

    /// <summary>Gets whether the stream can seek: until it is disposed.</summary>
    public override bool CanSeek => _memory is not null;

    /// <summary>Gets whether the stream can be written: until it is disposed.</summary>
    public override bool CanWrite => _memory is not null;

    /// <summary>Gets the length in bytes.</summary>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public override long Length
    {
        get
        {
            ThrowIfDisposed();
            return _length;
        }
    }

    /// <summary>Gets or sets the position of the next byte to read or write. A write beyond the end leaves zeros between.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public override long Position
    {
        get
        {
            ThrowIfDisposed();
            return _position;
        }

        set
        {
            Throw.IfNegative(value, nameof(value));
            Use();
            _position = value;
        }
    }

    /// <summary>Does nothing: all that was written is in memory.</summary>
    public override void Flush()
    {
    }

    /// <summary>Does nothing, unless it is cancelled.</summary>
    public override Task FlushAsync(CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled(cancellationToken) : Task.CompletedTask;

    /// <summary>Moves to a position, which may be beyond the end.</summary>
    /// <returns>The new position.</returns>
    /// <exception cref="ArgumentException"><paramref name="origin"/> is no origin.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The position would be above <see cref="long.MaxValue"/>.</exception>
    /// <exception cref="IOException">The position would be before the beginning.</exception>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public override long Seek(long offset, SeekOrigin origin)
    {
        Use();
        long from = origin switch
        {
            SeekOrigin.Begin => 0,
            SeekOrigin.Current => _position,
            SeekOrigin.End => _length,
            _ => throw new ArgumentException($"{origin} is no place to seek from; use Begin, Current or End.", nameof(origin)),
        };
        if (offset > long.MaxValue - from)
        {
            Throw.OutOfRange(nameof(offset), offset, $"must be at most {long.MaxValue - from}");
        }

        if (from + offset < 0)
        {
            throw new IOException(
                Invariant($"The new position is {from + offset:N0}; it must not be before the beginning of the stream."));
        }

        return _position = from + offset;
    }

    /// <summary>
    /// Sets the length. Added bytes are zero. Blocks beyond a shorter length are returned at once, and a position beyond it moves to the
    /// end. If this fails, the stream is unchanged.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="value"/> is negative.</exception>
    /// <inheritdoc cref="Write(byte[], int, int)" path="/exception[not(contains(@cref, 'Argument') or contains(@cref, 'IO'))]"/>
    public override void SetLength(long value)
    {
        Throw.IfNegative(value, nameof(value));
        StreamMemory memory = Use();
        if (value > _length)
        {
            FillTo(memory, value);
        }

        // Before blocks go: if one of them turns out to be corrupted, the others are gone all the same.
        long before = _length;
        _length = value;
        _position = Math.Min(_position, value);
        if (value <= before)
        {
            memory.Shrink(value);
        }
    }

    /// <summary>Reads up to that many bytes.</summary>
    /// <returns>The number of bytes read: less than <paramref name="count"/> only if the stream ends; 0 at the end.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The buffer ends before offset + count; or one of them is negative.</exception>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public override int Read(byte[] buffer, int offset, int count) => ReadBytes(MemoryOf(buffer, offset, count).Span);

    /// <summary>Reads one byte.</summary>
    /// <returns>The byte; -1 at the end.</returns>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public override int ReadByte()
    {
        StreamMemory memory = Use();
        return _position < _length ? memory.From(_position++).Span[0] : -1;
    }

    /// <summary>Reads before it returns, as <see cref="Read(byte[], int, int)"/>. Only argument exceptions are thrown directly.</summary>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadNowAsync(MemoryOf(buffer, offset, count), cancellationToken).AsTask();

    /// <summary>
    /// Writes all bytes at the position or, if that fails, none. Beyond the end the stream grows, with zeros between its former end and
    /// the position.
    /// </summary>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The buffer ends before offset + count; or one of them is negative.</exception>
    /// <exception cref="NotSupportedException">The stream has a fixed length, which is too short.</exception>
    /// <exception cref="IOException">The stream would be longer than <see cref="long.MaxValue"/>.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// The write would add more than the limit for one allocation, for instance after a <see cref="Seek"/> far beyond the end, or exceed
    /// the whole memory budget; or the budget had no room in time.
    /// </exception>
    /// <exception cref="OutOfMemoryException">The operating system refused the memory repeatedly.</exception>
    /// <exception cref="ObjectDisposedException">The stream, or its allocator, has been disposed.</exception>
    public override void Write(byte[] buffer, int offset, int count) => WriteBytes(MemoryOf(buffer, offset, count).Span);

    /// <summary>Writes one byte, as <see cref="Write(byte[], int, int)"/> does.</summary>
    public override void WriteByte(byte value)
    {
        MakeRoom(1).From(_position).Span[0] = value;
        MoveBehind(1);
    }

    /// <summary>
    /// Writes before it returns, as <see cref="Write(byte[], int, int)"/> does. Only argument exceptions are thrown outside of the task.
    /// </summary>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteNowAsync(MemoryOf(buffer, offset, count), cancellationToken).AsTask();

    /// <summary>Copies the rest to another stream, block by block. The position is at the end when this returns.</summary>
    /// <param name="destination">The stream to write to.</param>
    /// <param name="bufferSize">Must be at least 1, and has no effect: there is no buffer.</param>
    /// <param name="cancellationToken">Ends the copying, between blocks at the latest.</param>
    /// <exception cref="ArgumentNullException"><paramref name="destination"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="bufferSize"/> is below 1.</exception>
    /// <exception cref="NotSupportedException"><paramref name="destination"/> cannot be written to.</exception>
    /// <exception cref="ObjectDisposedException">One of the streams has been disposed.</exception>
    public override Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
    {
        ThrowIfNotCopy(destination, bufferSize);
        StreamMemory memory = Use();
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellationToken);
        }

        long start = _position;
        _position = Math.Max(start, _length);
        return CopyBlocksAsync(memory, start, _position, destination, cancellationToken);
    }

    /// <summary>Returns the whole content as one sequence over the stream's own blocks. Costs a small object a block.</summary>
    /// <returns>
    /// The content; it shows later writes to the stream. Not to be used after the stream was made shorter or disposed: a returned block
    /// throws <see cref="ObjectDisposedException"/>.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public ReadOnlySequence<byte> AsReadOnlySequence() => Use().AsSequence(_length);

    /// <summary>Copies the whole content, whatever the position, to a new array.</summary>
    /// <exception cref="IOException">The content is longer than an array can be.</exception>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public byte[] ToArray()
    {
        StreamMemory memory = Use();
        if (_length > LongestArray)
        {
            throw new IOException(Invariant($"The stream has {_length:N0} bytes, and an array at most {LongestArray:N0}. ")
                + $"Use {nameof(AsReadOnlySequence)} or {nameof(WriteTo)}.");
        }

        byte[] content = new byte[_length];
        memory.Read(0, content);
        return content;
    }

    /// <summary>
    /// Returns the whole content without a copy if it is in one array, that is up to 1 MiB in one block.
    /// <see cref="MemoryAllocator.CreateStream"/> with a capacity creates one block.
    /// </summary>
    /// <param name="buffer">The content; it shows later writes to the stream, and is not to be used after <c>Dispose</c>.</param>
    /// <returns>
    /// <see langword="false"/> if it is in several blocks or in unmanaged memory, as always in <see cref="SafetyMode.Guarded"/> mode. Use
    /// <see cref="AsReadOnlySequence"/> instead, or <see cref="ToArray"/>, which copies.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The stream has been disposed.</exception>
    public bool TryGetBuffer(out ArraySegment<byte> buffer)
    {
        StreamMemory memory = Use();
        ReadOnlyMemory<byte> first = _length == 0 ? Array.Empty<byte>() : memory.From(0, _length);
        buffer = default;
        return first.Length == _length && MemoryMarshal.TryGetArray(first, out buffer);
    }

    /// <summary>Writes the whole content, whatever the position, to another stream, block by block. The position stays.</summary>
    /// <param name="destination">The stream to write to.</param>
    /// <inheritdoc cref="CopyToAsync(Stream, int, CancellationToken)" path="/exception[not(contains(@cref, 'Range'))]"/>
    public void WriteTo(Stream destination)
    {
        ThrowIfNotCopy(destination, 1);
        CopyBlocks(Use(), 0, _length, destination);
    }

    /// <summary>Describes the stream in a line: its position, length and capacity.</summary>
    public override string ToString() => _memory is StreamMemory memory
        ? Invariant($"{nameof(PooledMemoryStream)} at {_position:N0} of {_length:N0} bytes, capacity {memory.Capacity:N0}")
        : $"{nameof(PooledMemoryStream)}, disposed";

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing && Interlocked.Exchange(ref _memory, null) is StreamMemory memory)
        {
            _apart = default;
            memory.Dispose();
        }

        base.Dispose(disposing);
    }
}
