using System.Buffers.Binary;

namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// Walks over the chunks of a PNG in memory. Copies nothing, and refuses a chunk that ends outside the file or has a wrong checksum.
/// </summary>
internal sealed class PngChunkReader
{
    // Length and type before the data, checksum after it.
    private const int Overhead = 12;

    private ReadOnlyMemory<byte> _rest;

    /// <exception cref="UnreadablePictureException">There is no such signature.</exception>
    public PngChunkReader(ReadOnlyMemory<byte> file)
    {
        if (!file.Span.StartsWith(Signature))
        {
            throw new UnreadablePictureException("not a PNG");
        }

        _rest = file[Signature.Length..];
    }

    public static ReadOnlySpan<byte> Signature => [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A];

    /// <exception cref="UnreadablePictureException">The file ends before the chunk does, or the checksum is wrong.</exception>
    public PngChunk Read()
    {
        ReadOnlySpan<byte> rest = _rest.Span;
        if (rest.Length < Overhead)
        {
            throw new UnreadablePictureException("the file is cut short");
        }

        uint length = BinaryPrimitives.ReadUInt32BigEndian(rest);
        PngChunk header = new(BinaryPrimitives.ReadUInt32BigEndian(rest[4..]), default);
        if (length > rest.Length - Overhead)
        {
            throw new UnreadablePictureException($"the file is cut short: chunk {header.Name} claims {length:N0} bytes, "
                + $"{rest.Length - Overhead:N0} are left");
        }

        int end = 8 + (int)length;
        if (Crc32.Append(0, rest[4..end]) != BinaryPrimitives.ReadUInt32BigEndian(rest[end..]))
        {
            throw new UnreadablePictureException($"chunk {header.Name} has a wrong checksum");
        }

        PngChunk chunk = header with { Data = _rest[8..end] };
        _rest = _rest[(end + 4)..];
        return chunk;
    }
}
