namespace Allocator.Skia;

/// <summary>The facts about a picture that are read from the beginning of its file.</summary>
internal sealed class CodecHeader
{
    private CodecHeader(SKCodec codec, ReadOnlySpan<byte> start, bool isComplete)
    {
        Info = codec.Info;
        Origin = codec.EncodedOrigin;
        Format = codec.EncodedFormat;
        CodecBytes = CodecMemory.Estimate(start, Format, Info.Width, Info.Height);
        MayBeTurned = !isComplete && Origin == SKEncodedOrigin.TopLeft && Format == SKEncodedImageFormat.Webp && HasExif(start);
    }

    private CodecHeader(CodecHeader read, SKEncodedOrigin origin) =>
        (Info, Origin, Format, CodecBytes) = (read.Info, origin, read.Format, read.CodecBytes);

    /// <summary>Gets the picture as it is stored, before its orientation is applied.</summary>
    public SKImageInfo Info { get; }

    public SKEncodedOrigin Origin { get; }

    public SKEncodedImageFormat Format { get; }

    /// <summary>
    /// Gets whether the end of the file may say that the picture is turned: in a WebP its metadata come after the pixels.
    /// </summary>
    public bool MayBeTurned { get; }

    /// <summary>Gets what the codec takes from malloc while it decodes, in bytes, whatever it decodes to.</summary>
    public long CodecBytes { get; }

    /// <summary>Reads the header.</summary>
    /// <param name="start">The file, or its beginning.</param>
    /// <param name="isComplete">Whether that is all of it.</param>
    /// <param name="mustDo">Whether it must do, even if there is more.</param>
    /// <returns>The header; null if that needs more of the file.</returns>
    /// <exception cref="InvalidDataException">No codec accepts the file.</exception>
    public static unsafe CodecHeader? TryRead(ReadOnlySpan<byte> start, bool isComplete, bool mustDo = false)
    {
        fixed (byte* address = start)
        {
            using Codec codec = new((nint)address, start.Length);
            if (!isComplete && !mustDo && (codec.MayNeedMore || codec.Native.EncodedFormat == SKEncodedImageFormat.Ico))
            {
                // Of an icon Skia takes the largest picture that is there.
                return null;
            }

            return new CodecHeader(codec.Native, start, isComplete);
        }
    }

    /// <summary>Returns the header of the same picture, turned by a quarter.</summary>
    public CodecHeader Turned() => new(this, SKEncodedOrigin.RightTop);

    // The flag of the extended form, VP8X.
    private static bool HasExif(ReadOnlySpan<byte> start) =>
        start.Length > 20 && start.Slice(12, 4).SequenceEqual("VP8X"u8) && (start[20] & 0x08) != 0;
}
