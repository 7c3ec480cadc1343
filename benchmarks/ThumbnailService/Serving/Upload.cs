namespace ThumbnailService.Serving;

/// <summary>The body of a request: first as much of it as has the picture's header, and the rest when there is memory for it.</summary>
internal sealed class Upload : IDisposable
{
    private readonly Stream _body;
    private readonly int _length;
    private byte[] _start;
    private int _read;

    public Upload(Stream body, int length)
    {
        _body = body;
        _length = length;
        _start = ArrayPool<byte>.Shared.Rent(Math.Min(length, PictureHeader.UsualLength));
    }

    /// <summary>Reads as much as it takes to know the header, which is valid until this is disposed.</summary>
    public async Task<PictureHeader> ReadHeaderAsync(PictureCodecs codecs, CancellationToken cancellationToken)
    {
        int wanted = Math.Min(_length, PictureHeader.UsualLength);
        while (true)
        {
            await ReadStartAsync(wanted, cancellationToken);
            try
            {
                return PictureHeader.Read(_start.AsMemory(0, _read), _length, codecs);
            }
            catch (UnreadablePictureException) when (wanted < Math.Min(_length, PictureHeader.LongestLength))
            {
                wanted = Math.Min(_length, PictureHeader.LongestLength);
            }
        }
    }

    public async Task<IMemoryOwner<byte>> ReadAsync(PixelStore store, CancellationToken cancellationToken)
    {
        IMemoryOwner<byte> owner = store.Allocate<byte>(_length);
        try
        {
            _start.AsSpan(0, _read).CopyTo(owner.Memory.Span);
            await FillAsync(owner.Memory[_read.._length], cancellationToken);
            return owner;
        }
        catch
        {
            owner.Dispose();
            throw;
        }
    }

    public void Dispose() => ArrayPool<byte>.Shared.Return(_start);

    private async Task ReadStartAsync(int wanted, CancellationToken cancellationToken)
    {
        if (_start.Length < wanted)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(wanted);
            _start.AsSpan(0, _read).CopyTo(larger);
            ArrayPool<byte>.Shared.Return(_start);
            _start = larger;
        }

        await FillAsync(_start.AsMemory(_read, wanted - _read), cancellationToken);
        _read = wanted;
    }

    private async Task FillAsync(Memory<byte> destination, CancellationToken cancellationToken)
    {
        int read = await _body.ReadAtLeastAsync(destination, destination.Length, throwOnEndOfStream: false, cancellationToken);
        if (read < destination.Length)
        {
            throw new UnreadablePictureException("the upload was cut short");
        }
    }
}
