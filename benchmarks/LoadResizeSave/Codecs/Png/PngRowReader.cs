using System.Buffers;
using System.IO.Compression;

namespace LoadResizeSave.Codecs.Png;

/// <summary>Inflates one row at a time and takes its filter away. Holds two rows, whatever the height.</summary>
internal sealed class PngRowReader : IDisposable
{
    private readonly ImageDataStream _compressed;
    private readonly ZLibStream _inflated;
    private readonly PngHeader _header;
    private readonly IMemoryOwner<byte> _owner;
    private Memory<byte> _row;
    private Memory<byte> _prior;

    public PngRowReader(PngMetadata metadata, PixelStore store)
    {
        _header = metadata.Header;
        _owner = store.Allocate<byte>(ScratchLength(_header));
        int longest = ScratchLength(_header) / 2;
        _row = _owner.Memory[..longest];
        _prior = _owner.Memory[longest..];
        _compressed = new ImageDataStream(metadata.Chunks, metadata.FirstImageData);
        _inflated = new ZLibStream(_compressed, CompressionMode.Decompress, leaveOpen: true);
    }

    /// <exception cref="UnreadablePictureException">A row is longer than one buffer can be.</exception>
    public static int ScratchLength(PngHeader header)
    {
        long longest = header.RowBytes(header.Width) + 1;
        return longest <= Array.MaxLength / 2
            ? 2 * (int)longest
            : throw new UnreadablePictureException($"a row of {longest:N0} bytes is too long");
    }

    /// <summary>Starts a picture, or a pass of an interlaced one: its first row has no row above.</summary>
    public void StartPass() => _prior.Span.Clear();

    /// <summary>Returns the next row of <paramref name="width"/> pixels, valid until the next call.</summary>
    /// <exception cref="UnreadablePictureException">The data ends before the row does, or names a filter that does not exist.</exception>
    public ReadOnlySpan<byte> ReadRow(int width)
    {
        int length = (int)_header.RowBytes(width) + 1;
        Span<byte> row = _row.Span[..length];
        int read = _inflated.ReadAtLeast(row, length, throwOnEndOfStream: false);
        if (read < length)
        {
            throw new UnreadablePictureException("the pixels end before the last row");
        }

        PngUnfilter.Apply(row[0], row[1..], _prior.Span[1..length], _header.FilterDistance);
        (_row, _prior) = (_prior, _row);
        return row[1..];
    }

    /// <summary>Checks what is left: the checksum of the pixels, and the file's proper end.</summary>
    public void Finish()
    {
        // At its end the stream compares the checksum; more pixels than the header promised are no harm and left alone.
        Span<byte> beyond = stackalloc byte[1];
        _ = _inflated.Read(beyond);
        _compressed.ReadToEndOfFile();
    }

    public void Dispose()
    {
        _inflated.Dispose();
        _compressed.Dispose();
        _owner.Dispose();
    }
}
