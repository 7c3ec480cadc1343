namespace Allocator.Skia;

/// <summary>Skia's codec over bytes that do not move while it lives: it reads from there, and calls no managed code.</summary>
internal sealed class Codec : IDisposable
{
    private readonly int _length;
    private readonly SKData _data;
    private readonly SKCodec? _native;
    private readonly SKCodecResult _result;

    public Codec(nint address, int length)
    {
        _length = length;
        _data = SKData.Create(address, length);

        // From here on the codec owns the stream, even if it refuses it.
        _native = SKCodec.Create(new SKMemoryStream(_data), out _result);
    }

    /// <summary>Gets the codec.</summary>
    /// <exception cref="InvalidDataException">No codec accepts the bytes.</exception>
    public SKCodec Native => _native ?? throw (_result == SKCodecResult.IncompleteInput
        ? new InvalidDataException(Invariant(
            $"These {_length:N0} bytes end within the picture's header ({nameof(SKCodecResult)}.{_result}): the file is cut off, ")
            + "or more of it has to be passed.")
        : Failure(_result));

    /// <summary>Gets whether the codec may accept the file once more of it has been read.</summary>
    public bool MayNeedMore => _native is null && _result != SKCodecResult.Unimplemented;

    /// <summary>Makes the exception for a result that is no success.</summary>
    public static Exception Failure(SKCodecResult result) => result switch
    {
        SKCodecResult.IncompleteInput => new InvalidDataException(
            $"The picture is cut off: rows or scans are missing ({nameof(SKCodecResult)}.{result}). "
            + $"{nameof(SKBitmapDecodeOptions)}.{nameof(SKBitmapDecodeOptions.AcceptIncomplete)} returns the part that is there."),
        SKCodecResult.ErrorInInput or SKCodecResult.InvalidInput => new InvalidDataException(
            $"The picture is damaged, or no picture ({nameof(SKCodecResult)}.{result})."),
        SKCodecResult.InvalidConversion => new NotSupportedException(
            $"The codec does not decode this picture to that colour type or alpha type ({nameof(SKCodecResult)}.{result}). Leave "
            + $"{nameof(SKBitmapDecodeOptions.ColorType)} and {nameof(SKBitmapDecodeOptions.AlphaType)} of "
            + $"{nameof(SKBitmapDecodeOptions)} null, and convert the bitmap."),
        SKCodecResult.Unimplemented => new InvalidDataException(
            $"This is no picture of a format that Skia decodes here ({nameof(SKCodecResult)}.{result})."),
        _ => new InvalidDataException($"Skia could not decode the picture ({nameof(SKCodecResult)}.{result})."),
    };

    public void Dispose()
    {
        _native?.Dispose();
        _data.Dispose();
    }
}
