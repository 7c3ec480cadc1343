namespace LoadResizeSave.Codecs.Png;

/// <summary>The pixel chunks of a PNG as one stream of compressed bytes, read where they lie.</summary>
internal sealed class ImageDataStream(PngChunkReader chunks, PngChunk first) : Stream
{
    private readonly PngChunkReader _chunks = chunks;
    private ReadOnlyMemory<byte> _current = first.Data;
    private PngChunk? _following;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    public override int Read(Span<byte> buffer)
    {
        while (_current.IsEmpty && _following is null)
        {
            PngChunk chunk = _chunks.Read();
            if (chunk.Type == PngChunk.ImageData)
            {
                _current = chunk.Data;
            }
            else
            {
                _following = chunk;
            }
        }

        int count = Math.Min(buffer.Length, _current.Length);
        _current.Span[..count].CopyTo(buffer);
        _current = _current[count..];
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    /// <summary>Reads on to the end of the file, so that damage or truncation behind the last pixel is found too.</summary>
    public void ReadToEndOfFile()
    {
        PngChunk chunk = _following ?? _chunks.Read();
        while (chunk.Type != PngChunk.End)
        {
            chunk = _chunks.Read();
        }
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
