using System;
using System.IO;
using System.Security.Cryptography;

namespace LoadResizeSave.Running;

/// <summary>Hashes what is written to another stream, so that every repetition is compared without being read back.</summary>
internal sealed class HashingStream : Stream
{
    private readonly Stream _destination;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);

    /// <summary>Writes on to <paramref name="destination"/>, which is disposed with this.</summary>
    public HashingStream(Stream destination)
    {
        _destination = destination;
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

    /// <summary>Returns the hash of all that was written.</summary>
    public string GetHash() => Convert.ToHexStringLower(_hash.GetCurrentHash());

    /// <inheritdoc/>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        _hash.AppendData(buffer);
        _destination.Write(buffer);
    }

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override void Flush() => _destination.Flush();

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
            _destination.Dispose();
            _hash.Dispose();
        }

        base.Dispose(disposing);
    }
}
