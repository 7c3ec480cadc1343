namespace Allocator.Skia;

/// <summary>The facts about a picture that are read from the beginning of its file.</summary>
internal sealed class CodecHeader
{
    private CodecHeader(SKCodec codec, ReadOnlySpan<byte> start)
    {
        Info = codec.Info;
        Origin = codec.EncodedOrigin;
        Format = codec.EncodedFormat;
        CodecBytes = CodecMemory.Estimate(start, Format, Info.Width, Info.Height);
    }

    /// <summary>Gets the picture as it is stored, before its orientation is applied.</summary>
    public SKImageInfo Info { get; }

    public SKEncodedOrigin Origin { get; }

    public SKEncodedImageFormat Format { get; }

    /// <summary>Gets what the codec takes from malloc while it decodes, in bytes, whatever it decodes to.</summary>
    public long CodecBytes { get; }

    /// <summary>Reads the header.</summary>
    /// <param name="start">The file, or its beginning.</param>
    /// <param name="isComplete">Whether that is all of it.</param>
    /// <returns>The header; null if that needs more of the file.</returns>
    /// <exception cref="InvalidDataException">No codec accepts the file.</exception>
    public static unsafe CodecHeader? TryRead(ReadOnlySpan<byte> start, bool isComplete)
    {
        fixed (byte* address = start)
        {
            using Codec codec = new((nint)address, start.Length);
            return codec.MayNeedMore && !isComplete ? null : new CodecHeader(codec.Native, start);
        }
    }
}
