namespace LoadResizeSave.Codecs;

/// <summary>A stream that is written to from its beginning to its end.</summary>
internal abstract class WriteOnlyStream : Stream
{
    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    public abstract override void Write(ReadOnlySpan<byte> buffer);

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}

/// <summary>Hashes what is written to another stream, so that every repetition is compared without being read back.</summary>
internal sealed class HashingStream(Stream destination) : WriteOnlyStream
{
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);

    public string GetHash() => Convert.ToHexStringLower(_hash.GetCurrentHash());

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        _hash.AppendData(buffer);
        destination.Write(buffer);
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            destination.Dispose();
            _hash.Dispose();
        }

        base.Dispose(disposing);
    }
}
