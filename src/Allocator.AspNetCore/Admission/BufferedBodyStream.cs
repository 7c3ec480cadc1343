namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The stream through which endpoints read a buffered body. It leaves the store open, so the endpoint can read the body after an estimate
/// has disposed its reader.
/// </summary>
internal sealed class BufferedBodyStream : Stream
{
    private readonly Stream _store;

    /// <param name="store">The store of the body.</param>
    /// <param name="isForm">
    /// Whether it is a form. It can seek then too, by Position and Seek, but says no: if a filter has set limits for the form, ASP.NET Core
    /// would open its files as windows that share this one position. Of a stream that cannot seek, each file keeps a copy.
    /// </param>
    public BufferedBodyStream(Stream store, bool isForm)
    {
        _store = store;
        CanSeek = !isForm;
    }

    public override bool CanRead => true;

    public override bool CanSeek { get; }

    public override bool CanWrite => false;

    public override long Length => _store.Length;

    public override long Position
    {
        get => _store.Position;
        set => _store.Position = value;
    }

    public override int Read(byte[] buffer, int offset, int count) => _store.Read(buffer, offset, count);

    public override int Read(Span<byte> buffer) => _store.Read(buffer);

    public override int ReadByte() => _store.ReadByte();

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        _store.ReadAsync(buffer, offset, count, cancellationToken);

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        _store.ReadAsync(buffer, cancellationToken);

    public override Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken) =>
        _store.CopyToAsync(destination, bufferSize, cancellationToken);

    public override long Seek(long offset, SeekOrigin origin) => _store.Seek(offset, origin);

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("The body of a request cannot be changed.");

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("The body of a request cannot be changed.");
}
