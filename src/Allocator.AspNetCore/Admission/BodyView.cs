using Microsoft.Win32.SafeHandles;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// A view of a received body with its own position. It reads at offsets, so views and the body of the request do not move each other.
/// Disposing it closes only the view.
/// </summary>
internal sealed class BodyView : Stream
{
    private readonly Stream _store;

    // Read only once, because it flushes the stream, which the application may be reading.
    private readonly SafeFileHandle? _file;
    private readonly long _start;
    private readonly SemaphoreSlim _turns;
    private readonly long? _length;
    private long _position;
    private bool _isDisposed;

    /// <param name="store">The store of the body.</param>
    /// <param name="start">The start of the body in the store.</param>
    /// <param name="turns">A lock that is held while a store with only one position is read.</param>
    /// <param name="length">The length of the view, if it ends before the store.</param>
    public BodyView(Stream store, long start, SemaphoreSlim turns, long? length = null)
    {
        _length = length;
        _store = store;
        _file = (store as FileStream)?.SafeFileHandle;
        _start = start;
        _turns = turns;
    }

    public override bool CanRead => !_isDisposed;

    public override bool CanSeek => !_isDisposed;

    public override bool CanWrite => false;

    public override long Length => _length ?? Store.Length - _start;

    public override long Position
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _position;
        }

        set
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    // In the store. A position may be beyond any end.
    private long Offset => _start + Math.Min(_position, long.MaxValue - _start);

    // After its request has ended, the store throws when it is read.
    private Stream Store
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed || !_store.CanRead, this);
            return _store;
        }
    }

    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    public override int Read(Span<byte> buffer)
    {
        int read;
        Stream store = Store;
        buffer = buffer[..Fit(buffer.Length)];
        switch (store)
        {
            case MemoryStream memory when memory.TryGetBuffer(out ArraySegment<byte> bytes):
                read = Copy(bytes, buffer);
                break;
            case FileStream:
                read = RandomAccess.Read(_file!, buffer, Offset);
                break;
            default:
                _turns.Wait();
                try
                {
                    long position = store.Position;
                    store.Position = Offset;
                    read = store.Read(buffer);
                    store.Position = position;
                }
                finally
                {
                    _turns.Release();
                }

                break;
        }

        _position += read;
        return read;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        return ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (Store is FileStream)
        {
            int read = await RandomAccess.ReadAsync(_file!, buffer[..Fit(buffer.Length)], Offset, cancellationToken);
            _position += read;
            return read;
        }

        // A body that another middleware has buffered is already complete.
        return Read(buffer.Span);
    }

    public override long Seek(long offset, SeekOrigin origin)
    {
        long from = origin switch
        {
            SeekOrigin.Begin => 0,
            SeekOrigin.Current => Position,
            SeekOrigin.End => Length,
            _ => throw new ArgumentOutOfRangeException(nameof(origin), origin, "must be Begin, Current or End"),
        };
        long position = checked(from + offset);
        if (position < 0)
        {
            throw new IOException($"Position {position} is before the beginning of the body.");
        }

        return Position = position;
    }

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("The body of a request cannot be changed.");

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("The body of a request cannot be changed.");

    protected override void Dispose(bool disposing)
    {
        _isDisposed = true;
        base.Dispose(disposing);
    }

    // Of a read; without a length of its own the store ends it.
    private int Fit(int count) => _length is { } length ? (int)Math.Clamp(length - _position, 0, count) : count;

    private int Copy(ReadOnlySpan<byte> bytes, Span<byte> buffer)
    {
        int offset = (int)Math.Min(Offset, bytes.Length);
        int length = Math.Min(buffer.Length, bytes.Length - offset);
        bytes.Slice(offset, length).CopyTo(buffer);
        return length;
    }
}
