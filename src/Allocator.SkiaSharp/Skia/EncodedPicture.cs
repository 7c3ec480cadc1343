namespace Allocator.Skia;

/// <summary>
/// A file in counted memory, in one piece. Skia decodes from there, and calls no code of the user. The beginning is read first, because
/// it says how much the whole picture takes.
/// </summary>
/// <remarks>
/// Until the job has its reservation, the beginning is in arrays that no budget counts. Otherwise it could block the very reservation that
/// the job waits for, and no header could be read while others wait.
/// </remarks>
internal sealed class EncodedPicture : IDisposable
{
    /// <summary>Contains the header of most files, and is little to hold while a job waits for its reservation.</summary>
    private const int FirstPart = 64 * 1024;

    // If the header does not end before this, further bytes are counted. They are dropped while the job waits, and read again; of a stream
    // that cannot seek they are kept, so that the job needs as much more.
    private const int LongestUncounted = 1024 * 1024;

    private readonly Stream _stream;

    // The initial position of a seekable stream.
    private readonly long _start;
    private readonly bool _isAsync;
    private readonly CancellationToken _cancellationToken;

    // The length of the rest of the stream as it reports it, or null if it reports none.
    private readonly long? _statedLength;
    private MemoryAllocator _allocator;
    private bool _isReserved;
    private IMemoryOwner<byte>? _owner;
    private int _length;
    private bool _isAtEnd;

    public EncodedPicture(
        MemoryAllocator allocator, Stream stream, bool isAsync, bool isReserved, CancellationToken cancellationToken)
    {
        _allocator = allocator;
        _isReserved = isReserved;
        _stream = stream;
        _isAsync = isAsync;
        _cancellationToken = cancellationToken;
        if (stream.CanSeek)
        {
            _start = stream.Position;
            if (stream.Length - _start is > 0 and long left)
            {
                _statedLength = left;
                if (left > Array.MaxLength)
                {
                    throw new InvalidDataException(
                        Invariant($"The source has {left:N0} bytes; the limit for an encoded picture is {Array.MaxLength:N0}."));
                }
            }
        }
    }

    /// <summary>Gets the bytes read so far.</summary>
    public ReadOnlyMemory<byte> Content => _owner is null ? default : _owner.Memory[.._length];

    public bool IsComplete => _isAtEnd || _length == _statedLength;

    /// <summary>Returns how long the file is, or is guessed to be if the stream does not say: a byte for four pixels.</summary>
    public long ExpectedLength(CodecHeader header) =>
        IsComplete ? _length : _statedLength ?? Math.Max(_length * 2L, (long)header.Info.Width * header.Info.Height / 4);

    public void Dispose()
    {
        _owner?.Dispose();
        _owner = null;
    }

    /// <summary>Reads as much as the header takes, and returns it.</summary>
    /// <exception cref="ArgumentException">The stream is at its end, after bytes that were not read here.</exception>
    /// <exception cref="InvalidDataException">Skia knows no such format, or the file is empty or ends within its header.</exception>
    public async ValueTask<CodecHeader> ReadHeaderAsync()
    {
        for (long part = FirstPart; ; part = Math.Max(part, _length) * 4)
        {
            await ReadAsync(Math.Min(part, _statedLength ?? part)).ConfigureAwait(false);
            ThrowIfEmpty();
            if (CodecHeader.TryRead(Content.Span, IsComplete) is { } header)
            {
                return header;
            }
        }
    }

    /// <summary>
    /// Drops bytes that the budget counts, if they can be read again. Otherwise a job would wait for what it holds itself.
    /// </summary>
    public void DropIfCounted()
    {
        if (!_isReserved && _length > LongestUncounted && _stream.CanSeek)
        {
            Dispose();
            _length = 0;
            _isAtEnd = false;
            _stream.Position = _start;
        }
    }

    /// <summary>Moves the bytes read so far to the reservation, for a file of at least that many bytes.</summary>
    public async ValueTask MoveToAsync(MemoryReservation reservation, long expectedLength)
    {
        _allocator = reservation;
        _isReserved = true;
        await ResizeAsync(Math.Max(expectedLength, _length)).ConfigureAwait(false);
    }

    public async ValueTask ReadToEndAsync()
    {
        while (!IsComplete)
        {
            // Doubles if the length is not known: each byte is copied twice at most.
            await ReadAsync(_statedLength ?? Math.Max(_owner!.Memory.Length, _length * 2L)).ConfigureAwait(false);
        }
    }

    /// <summary>Allocates room for bytes behind the file. Keeps its memory if that has it.</summary>
    public void MakeRoom(int at, int length)
    {
        if (_owner!.Memory.Length - at < length)
        {
            if (at > Array.MaxLength - length)
            {
                throw new InvalidDataException(
                    Invariant($"The source has {at:N0} bytes; the limit for a picture without its end is {Array.MaxLength - length:N0}."));
            }

            IMemoryOwner<byte> owner = _allocator.Allocate<byte>(at + length);
            Content[..at].CopyTo(owner.Memory);
            _owner.Dispose();
            _owner = owner;
        }
    }

    /// <summary>Has the file end as an action writes, from a position on.</summary>
    public void ReplaceEnd(int at, Func<Memory<byte>, int> write) => _length = at + write(_owner!.Memory[at..]);

    private void ThrowIfEmpty()
    {
        if (_length == 0 && _isAtEnd)
        {
            throw _start > 0
                ? new ArgumentException(
                    Invariant($"The stream has nothing from its position, {_start:N0}, to its end. Set Position = 0 before decoding."),
                    "source")
                : new InvalidDataException($"The source is empty ({nameof(SKCodecResult)}.{SKCodecResult.IncompleteInput}).");
        }
    }

    private async ValueTask ReadAsync(long length)
    {
        if (_length == Array.MaxLength)
        {
            throw new InvalidDataException(
                Invariant($"The source has more than {Array.MaxLength:N0} bytes, the limit for an encoded picture."));
        }

        length = Math.Min(length, Array.MaxLength);
        if (_owner is null || _owner.Memory.Length < length)
        {
            await ResizeAsync(length).ConfigureAwait(false);
        }

        Memory<byte> memory = _owner!.Memory[..(int)length];
        while (_length < memory.Length && !_isAtEnd)
        {
            int read = _isAsync
                ? await _stream.ReadAsync(memory[_length..], _cancellationToken).ConfigureAwait(false)
                : _stream.Read(memory.Span[_length..]);
            if ((uint)read > (uint)(memory.Length - _length))
            {
                throw new IOException(Invariant($"{_stream.GetType()} returned {read} from a read of {memory.Length - _length} bytes."));
            }

            _length += read;
            _isAtEnd = read == 0;
        }
    }

    private async ValueTask ResizeAsync(long length)
    {
        length = Math.Min(length, Array.MaxLength);
        DropIfCounted();
        IMemoryOwner<byte> owner = !_isReserved && length <= LongestUncounted ? MemoryPool<byte>.Shared.Rent((int)length)
            : _isAsync ? await _allocator.AllocateAsync<byte>((int)length, cancellationToken: _cancellationToken).ConfigureAwait(false)
            : _allocator.Allocate<byte>((int)length);
        Content.CopyTo(owner.Memory);
        IMemoryOwner<byte>? old = _owner;
        _owner = owner;
        old?.Dispose();
    }
}
