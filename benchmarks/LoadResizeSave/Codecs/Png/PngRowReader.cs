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
        int length = ScratchLength(_header) / 2;
        _row = _owner.Memory[..length];
        _prior = _owner.Memory[length..];

        // The first row has no row above.
        _prior.Span.Clear();
        _compressed = new ImageDataStream(metadata.Chunks, metadata.FirstImageData);
        _inflated = new ZLibStream(_compressed, CompressionMode.Decompress, leaveOpen: true);
    }

    public static int ScratchLength(PngHeader header)
    {
        long length = header.RowBytes + 1;
        return length <= Array.MaxLength / 2
            ? 2 * (int)length
            : throw new UnreadablePictureException($"a row of {length:N0} bytes is too long");
    }

    /// <summary>Returns the next row, valid until the next call.</summary>
    public ReadOnlySpan<byte> ReadRow()
    {
        Span<byte> row = _row.Span;
        if (_inflated.ReadAtLeast(row, row.Length, throwOnEndOfStream: false) < row.Length)
        {
            throw new UnreadablePictureException("the pixels end before the last row");
        }

        PngFilters.Undo(row[0], row[1..], _prior.Span[1..], _header.FilterDistance);
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
