namespace Allocator.SkiaSharp.Tests;

/// <summary>A stream like that of a network: it cannot seek, and returns less than was asked for. It may fail at a byte.</summary>
internal sealed class TricklingStream(byte[] content, long failsAt = long.MaxValue, int most = 10_000) : Stream
{
    private long _position;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    public override int Read(Span<byte> buffer)
    {
        int count = (int)Math.Min(Math.Min(most, buffer.Length), content.Length - _position);
        FailAt(count);
        content.AsSpan((int)_position, count).CopyTo(buffer);
        _position += count;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await Task.Yield();
        return Read(buffer.Span);
    }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        FailAt(buffer.Length);
        _position += buffer.Length;
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    private void FailAt(int count)
    {
        if (_position + count > failsAt)
        {
            throw new InvalidOperationException($"at {failsAt}");
        }
    }
}
