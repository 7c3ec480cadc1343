using LoadResizeSave.Codecs.Skia;

namespace LoadResizeSave.Tests;

public class SkiaCodecTests
{
    public static TheoryData<string, AllocatorKind> Codecs()
    {
        TheoryData<string, AllocatorKind> codecs = [];
        foreach (AllocatorKind kind in Enum.GetValues<AllocatorKind>())
        {
            codecs.Add(".jpg", kind);
            codecs.Add(".png", kind);
            codecs.Add(".webp", kind);
        }

        return codecs;
    }

    [Theory]
    [MemberData(nameof(Codecs))]
    public void Encode_SmoothPicture_ComesBackAlmostTheSame(string extension, AllocatorKind kind)
    {
        IPictureCodec codec = Codec(extension);
        using PixelStore store = Pictures.Store(kind);
        using Raster<Rgb24> picture = Pictures.Make(
            store, 2000, 1500, (x, y) => new((byte)(x / 8), (byte)(y / 6), (byte)((x + y) / 14)));

        byte[] file = Pictures.Encode(codec, picture, store);
        Rgb24[] decoded = Pictures.Decode(codec, file, store);

        Assert.True(codec.Recognizes(file));
        Assert.Same(codec, new PictureCodecs(useSkia: true).Recognize(file));
        Rgb24[] original = Pictures.ToArray(picture);
        for (int i = 0; i < original.Length; i++)
        {
            Assert.InRange(decoded[i].R - original[i].R, -20, 20);
            Assert.InRange(decoded[i].G - original[i].G, -20, 20);
            Assert.InRange(decoded[i].B - original[i].B, -20, 20);
        }
    }

    [Theory]
    [InlineData(".jpg")]
    [InlineData(".png")]
    [InlineData(".webp")]
    public void Decode_FileThatIsCutShort_IsRefusedAndNothingStaysOut(string extension)
    {
        IPictureCodec codec = Codec(extension);
        using PixelStore store = Pictures.Store();
        byte[] file;
        using (Raster<Rgb24> picture = Pictures.Make(store, 400, 300, Pictures.Pattern))
        {
            file = Pictures.Encode(codec, picture, store);
        }

        foreach (int length in new[] { 0, 10, 100, file.Length / 3, file.Length / 2, file.Length * 3 / 4 })
        {
            Assert.Throws<UnreadablePictureException>(() => Pictures.Decode(codec, file[..length], store));
        }

        Pictures.AssertNothingIsOut(store);
    }

    private static IPictureCodec Codec(string extension) =>
        new[] { SkiaCodec.Jpeg, SkiaCodec.Png, SkiaCodec.WebP }.Single(codec => codec.Extension == extension);
}
