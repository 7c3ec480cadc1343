using System;
using System.Buffers;
using System.IO;
using LoadResizeSave.Pixels;

namespace LoadResizeSave.Codecs.Png;

/// <summary>Cuts the compressed stream of a PNG into chunks as it is written.</summary>
internal sealed class ImageDataWriter : Stream
{
    /// <summary>How many bytes it takes of its store.</summary>
    public const int ChunkLength = 64 * 1024;

    private readonly Stream _destination;
    private readonly IMemoryOwner<byte> _chunk;
    private int _length;

    /// <summary>Writes chunks to <paramref name="destination"/>, which stays open.</summary>
    public ImageDataWriter(Stream destination, PixelStore store)
    {
        _destination = destination;
        _chunk = store.Allocate<byte>(ChunkLength);
    }

    /// <inheritdoc/>
    public override bool CanRead => false;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Does nothing: a chunk is written when it is full, so that flushing leaves the bytes of the file as they are.</summary>
    public override void Flush()
    {
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
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
