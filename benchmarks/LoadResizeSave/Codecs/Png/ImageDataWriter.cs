using System.Buffers;

namespace LoadResizeSave.Codecs.Png;

/// <summary>Cuts the compressed stream of a PNG into chunks as it is written.</summary>
internal sealed class ImageDataWriter : Stream
{
    public const int ChunkLength = 64 * 1024;

    private readonly Stream _destination;
    private readonly IMemoryOwner<byte> _chunk;
    private int _length;

    public ImageDataWriter(Stream destination, PixelStore store)
    {
        _destination = destination;
        _chunk = store.Allocate<byte>(ChunkLength);
    }

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            int count = Math.Min(buffer.Length, ChunkLength - _length);
            buffer[..count].CopyTo(_chunk.Memory.Span[_length..]);
            _length += count;
            buffer = buffer[count..];
            if (_length == ChunkLength)
            {
                WriteChunk();
            }
        }
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Does nothing: a chunk is written when it is full, so that flushing leaves the bytes of the file as they are.</summary>
    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            WriteChunk();
            _chunk.Dispose();
        }

        base.Dispose(disposing);
    }

    private void WriteChunk()
    {
        if (_length > 0)
        {
            PngEncoder.WriteChunk(_destination, PngChunk.ImageData, _chunk.Memory.Span[.._length]);
            _length = 0;
        }
    }
}
