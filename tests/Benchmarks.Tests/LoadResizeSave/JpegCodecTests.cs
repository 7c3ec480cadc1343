namespace LoadResizeSave.Tests;

public class JpegCodecTests
{
    [SkippableTheory]
    [InlineData(AllocatorKind.Pool)]
    [InlineData(AllocatorKind.GC)]
    public void Encode_SmoothPicture_ComesBackAlmostTheSame(AllocatorKind kind)
    {
        JpegCodec codec = RequireCodec();
        using PixelStore store = Pictures.Store(kind);
        using Raster<Rgb24> picture = Pictures.Make(
            store, 2000, 1500, (x, y) => new((byte)(x / 8), (byte)(y / 6), (byte)((x + y) / 14)), contiguous: true);

        Rgb24[] decoded = Pictures.Decode(codec, Pictures.Encode(codec, picture, store), store);

        Rgb24[] original = Pictures.ToArray(picture);
        for (int i = 0; i < original.Length; i++)
        {
            Assert.InRange(decoded[i].R - original[i].R, -12, 12);
            Assert.InRange(decoded[i].G - original[i].G, -12, 12);
            Assert.InRange(decoded[i].B - original[i].B, -12, 12);
        }
    }

    [SkippableFact]
    public void Decode_FileCutAnywhere_IsRefusedAndNothingStaysOut()
    {
        JpegCodec codec = RequireCodec();
        using PixelStore store = Pictures.Store();
        byte[] file;
        using (Raster<Rgb24> picture = Pictures.Make(store, 40, 30, Pictures.Pattern, contiguous: true))
        {
            file = Pictures.Encode(codec, picture, store);
        }

        // Only the mark of the end may be missing: the library then has every pixel.
        for (int length = 3; length < file.Length - 2; length++)
        {
            Assert.Throws<UnreadablePictureException>(() => Pictures.Decode(codec, file[..length], store));
        }

        Pictures.AssertNothingIsOut(store);
    }

    [Fact]
    public void Recognize_JpegWithoutLibrary_SaysWhatIsMissing()
    {
        PictureCodecs codecs = new(useLibjpeg: false);

        UnreadablePictureException exception = Assert.Throws<UnreadablePictureException>(() => codecs.Recognize([0xFF, 0xD8, 0xFF, 0xE0]));

        Assert.Contains("libjpeg-turbo", exception.Message, StringComparison.Ordinal);
    }

    private static JpegCodec RequireCodec()
    {
        JpegCodec? codec = new PictureCodecs(useLibjpeg: true).Jpeg;
        Skip.If(codec is null, "This system has no libjpeg-turbo.");
        return codec!;
    }
}
