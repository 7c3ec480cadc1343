using System;
using System.Buffers;
using System.IO;
using System.IO.Pipelines;

namespace ThumbnailService.Serving;

/// <summary>Lets a codec, which writes to streams without waiting, write into a response. What was written goes out when the response is flushed.</summary>
internal sealed class ResponseStream : Stream
{
    private readonly PipeWriter _writer;

    /// <summary>Writes to <paramref name="writer"/>.</summary>
    public ResponseStream(PipeWriter writer)
    {
        _writer = writer;
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
    public override void Write(ReadOnlySpan<byte> buffer) => _writer.Write(buffer);

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Does nothing: a codec must not wait for the client.</summary>
    public override void Flush()
    {
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();
}
