namespace LoadResizeSave.Codecs.Png;

/// <summary>One chunk of a PNG whose checksum was found right.</summary>
internal readonly record struct PngChunk(uint Type, ReadOnlyMemory<byte> Data)
{
    public const uint Header = 0x49484452; // IHDR
    public const uint Palette = 0x504C5445; // PLTE
    public const uint Transparency = 0x74524E53; // tRNS
    public const uint ImageData = 0x49444154; // IDAT
    public const uint End = 0x49454E44; // IEND

    /// <summary>Gets whether a decoder that does not know this chunk must give up: its first letter is a capital.</summary>
    public bool IsCritical => (Type & 0x20000000) == 0;
}

/// <summary>
/// Walks over the chunks of a PNG in memory. Copies nothing, and refuses a chunk that ends outside the file or has a wrong checksum.
/// </summary>
internal sealed class PngChunkReader
{
    // Length and type before the data, checksum after it.
    private const int Overhead = 12;

    private ReadOnlyMemory<byte> _rest;

    public PngChunkReader(ReadOnlyMemory<byte> file)
    {
        if (!file.Span.StartsWith(Signature))
        {
            throw new UnreadablePictureException("not a PNG");
        }

        _rest = file[Signature.Length..];
    }

    public static ReadOnlySpan<byte> Signature => [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A];

    public PngChunk Read()
    {
        ReadOnlySpan<byte> rest = _rest.Span;
        if (rest.Length < Overhead || BinaryPrimitives.ReadUInt32BigEndian(rest) > rest.Length - Overhead)
        {
            throw new UnreadablePictureException("the file is cut short");
        }

        int end = 8 + (int)BinaryPrimitives.ReadUInt32BigEndian(rest);
        if (Crc32.Append(0, rest[4..end]) != BinaryPrimitives.ReadUInt32BigEndian(rest[end..]))
        {
            throw new UnreadablePictureException("a chunk has a wrong checksum");
        }

        PngChunk chunk = new(BinaryPrimitives.ReadUInt32BigEndian(rest[4..]), _rest[8..end]);
        _rest = _rest[(end + 4)..];
        return chunk;
    }
}

/// <summary>The pixel chunks of a PNG as one stream of compressed bytes, read where they lie.</summary>
internal sealed class ImageDataStream(PngChunkReader chunks, PngChunk first) : Stream
{
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
            PngChunk chunk = chunks.Read();
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
        PngChunk chunk = _following ?? chunks.Read();
        while (chunk.Type != PngChunk.End)
        {
            chunk = chunks.Read();
        }
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
