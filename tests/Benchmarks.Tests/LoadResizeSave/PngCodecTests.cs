using LoadResizeSave.Codecs.Png;

namespace LoadResizeSave.Tests;

public class PngCodecTests
{
    private static readonly PngCodec s_codec = new();

    private static readonly Dictionary<string, Func<PngFixture, PngFixture>> s_damaged = new()
    {
        ["no palette"] = file => file.Pixels((_, _, _) => 0),
        ["palette of a broken length"] = file => file.Chunk("PLTE", [1, 2, 3, 4]).Pixels((_, _, _) => 0),
        ["transparency longer than the palette"] = file => file.Chunk("PLTE", [1, 2, 3]).Chunk("tRNS", [1, 2]).Pixels((_, _, _) => 0),
        ["unknown critical chunk"] = file => file.Chunk("ABCD", []).Pixels((_, _, _) => 0),
        ["no pixels"] = file => file,
        ["wrong checksum of an unimportant chunk"] = file => file.Chunk("tEXt", [7], crcError: 1).Pixels((_, _, _) => 0),
        ["pixels that are not compressed"] = file => file.Chunk("IDAT", [1, 2, 3, 4, 5, 6, 7, 8]),
    };

    public static IEnumerable<object[]> Kinds()
    {
        (int Type, int[] Depths)[] kinds = [(0, [1, 2, 4, 8, 16]), (2, [8, 16]), (3, [1, 2, 4, 8]), (4, [8, 16]), (6, [8, 16])];
        (int Width, int Height)[] sizes = [(1, 1), (3, 2), (5, 7), (9, 17), (33, 12)];
        return from kind in kinds
               from depth in kind.Depths
               from size in sizes
               select new object[] { kind.Type, depth, size.Width, size.Height };
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Decode_EveryKind_GivesThePixels(int colourType, int bitDepth, int width, int height)
    {
        PngFixture fixture = new(width, height, bitDepth, colourType);
        int maximum = (1 << bitDepth) - 1;
        int Sample(int x, int y, int channel) => ((x * 2654435) + (y * 40503) + (channel * 9973) + (x * y)) & maximum;
        byte[] palette = [.. Enumerable.Range(0, 3 * (1 << Math.Min(8, bitDepth))).Select(i => (byte)(i * 37))];
        fixture.Header();
        if (colourType == 3)
        {
            fixture.Chunk("PLTE", palette);
        }

        byte[] file = fixture.Chunk("tEXt", [1, 2, 3]).Pixels(Sample, chunkLength: 11).End().ToArray();
        using PixelStore store = Pictures.Store();

        Rgb24[] pixels = Pictures.Decode(s_codec, file, store);

        for (int i = 0; i < pixels.Length; i++)
        {
            int[] samples = [.. Enumerable.Range(0, fixture.Channels).Select(channel => Sample(i % width, i / width, channel))];
            Assert.Equal(Expected(colourType, maximum, samples, palette), pixels[i]);
        }

        Pictures.AssertNothingIsOut(store);
    }

    [Fact]
    public void Decode_TransparentPaletteEntries_LiesOnWhite()
    {
        byte[] file = new PngFixture(4, 1, 8, 3).Header()
            .Chunk("PLTE", [10, 20, 30, 10, 20, 30, 10, 20, 30]).Chunk("tRNS", [0, 128])
            .Pixels((x, _, _) => x).End().ToArray();
        using PixelStore store = Pictures.Store();

        Assert.Equal([Rgb24.White, new(132, 137, 142), new(10, 20, 30), default], Pictures.Decode(s_codec, file, store));
    }

    [Theory]
    [InlineData(0, 4)]
    [InlineData(0, 16)]
    [InlineData(2, 8)]
    [InlineData(2, 16)]
    public void Decode_TransparentColour_IsWhiteAndItsNeighboursAreNot(int colourType, int bitDepth)
    {
        byte[] key = colourType == 0 ? [0, 5] : [0, 5, 0, 5, 0, 5];
        byte[] file = new PngFixture(3, 1, bitDepth, colourType).Header().Chunk("tRNS", key)
            .Pixels((x, _, _) => x + 4).End().ToArray();
        using PixelStore store = Pictures.Store();

        Rgb24[] pixels = Pictures.Decode(s_codec, file, store);

        Assert.Equal([false, true, false], pixels.Select(pixel => pixel == Rgb24.White));
    }

    [Theory]
    [InlineData(AllocatorKind.Pool)]
    [InlineData(AllocatorKind.Unpooled)]
    [InlineData(AllocatorKind.ArrayPool)]
    [InlineData(AllocatorKind.GC)]
    public void Encode_LargePicture_ComesBackTheSame(AllocatorKind kind)
    {
        // Above 4 MiB, so that the rows lie in several blocks.
        using PixelStore store = Pictures.Store(kind);
        using Raster<Rgb24> picture = Pictures.Make(store, 1501, 1203, Pictures.Pattern);

        byte[] file = Pictures.Encode(s_codec, picture, store);

        Assert.Equal(Pictures.ToArray(picture), Pictures.Decode(s_codec, file, store));
    }

    [Fact]
    public void Decode_FileCutAnywhere_IsRefusedAndNothingStaysOut()
    {
        byte[] file = new PngFixture(9, 9, 8, 2).Header().Pixels((x, y, c) => (x * y * c) & 255, chunkLength: 50).End().ToArray();
        using PixelStore store = Pictures.Store();
        for (int length = 0; length < file.Length; length++)
        {
            AssertRefused(file[..length], store);
        }

        Pictures.AssertNothingIsOut(store);
    }

    [Fact]
    public void Decode_AnyByteChanged_IsRefused()
    {
        byte[] file = new PngFixture(9, 9, 8, 2).Header().Pixels((x, y, c) => (x * y * c) & 255).End().ToArray();
        using PixelStore store = Pictures.Store();
        for (int i = 0; i < file.Length; i++)
        {
            byte[] damaged = [.. file];
            damaged[i] ^= 0x10;
            AssertRefused(damaged, store);
        }
    }

    [Theory]
    [InlineData(0, 1, 8, 2)]
    [InlineData(1, 0, 8, 2)]
    [InlineData(-1, 1, 8, 2)]
    [InlineData(1, int.MinValue, 8, 2)]
    [InlineData(1, 1, 3, 0)]
    [InlineData(1, 1, 16, 3)]
    [InlineData(1, 1, 4, 2)]
    [InlineData(1, 1, 8, 5)]
    [InlineData(1, 1, 0, 0)]
    [InlineData(1, 1, 8, 255)]
    public void ReadSize_ImpossibleHeader_IsRefused(int width, int height, int bitDepth, int colourType)
    {
        byte[] file = new PngFixture(width, height, bitDepth, colourType).Header().End().ToArray();

        Assert.Throws<UnreadablePictureException>(() => s_codec.ReadSize(file));
    }

    [Theory]
    [InlineData(1, 0, 0)]
    [InlineData(0, 1, 0)]
    [InlineData(0, 0, 1)]
    public void ReadSize_UnknownMethods_IsRefused(byte compression, byte filter, byte interlace)
    {
        byte[] file = new PngFixture(1, 1, 8, 2).Header(compression, filter, interlace).End().ToArray();

        Assert.Throws<UnreadablePictureException>(() => s_codec.ReadSize(file));
    }

    [Fact]
    public void CouldHoldItsPixels_BombWithLargestHeader_IsFalse()
    {
        byte[] file = new PngFixture(int.MaxValue, int.MaxValue, 16, 6).Header().End().ToArray();

        Assert.Equal(new PictureSize(int.MaxValue, int.MaxValue), s_codec.ReadSize(file));
        Assert.False(s_codec.CouldHoldItsPixels(file, file.Length));
    }

    [Fact]
    public void CouldHoldItsPixels_HighlyCompressedPicture_IsTrue()
    {
        byte[] file = new PngFixture(2000, 2000, 1, 0).Header().Pixels((_, _, _) => 0).End().ToArray();

        Assert.True(s_codec.CouldHoldItsPixels(file, file.Length));
    }

    public static TheoryData<string> Damages => [.. s_damaged.Keys];

    [Theory]
    [MemberData(nameof(Damages))]
    public void Decode_Damaged_IsRefused(string damage)
        => AssertRefused(s_damaged[damage](new PngFixture(1, 1, 8, damage.Contains("palette") ? 3 : 0).Header()).End().ToArray());

    [Fact]
    public void Decode_FewerRowsThanClaimed_IsRefused()
    {
        // The pixels of a lower picture behind the header of a higher one.
        byte[] low = new PngFixture(4, 4, 8, 0).Pixels((x, _, _) => x).End().ToArray();
        byte[] high = new PngFixture(4, 5, 8, 0).Header().ToArray();

        AssertRefused([.. high, .. low[8..]]);
    }

    private static Rgb24 Expected(int colourType, int maximum, int[] samples, byte[] palette)
    {
        byte Scaled(int i) => (byte)Math.Round(samples[i] * 255.0 / maximum, MidpointRounding.AwayFromZero);
        byte OnWhite(int i) => (byte)(((Scaled(i) * Scaled(samples.Length - 1)) + (255 * (255 - Scaled(samples.Length - 1))) + 127) / 255);
        return colourType switch
        {
            0 => new(Scaled(0), Scaled(0), Scaled(0)),
            2 => new(Scaled(0), Scaled(1), Scaled(2)),
            3 => new(palette[3 * samples[0]], palette[(3 * samples[0]) + 1], palette[(3 * samples[0]) + 2]),
            4 => new(OnWhite(0), OnWhite(0), OnWhite(0)),
            _ => new(OnWhite(0), OnWhite(1), OnWhite(2)),
        };
    }

    private static void AssertRefused(byte[] file)
    {
        using PixelStore store = Pictures.Store();
        AssertRefused(file, store);
        Pictures.AssertNothingIsOut(store);
    }

    private static void AssertRefused(byte[] file, PixelStore store)
    {
        Exception? exception = Record.Exception(() => Pictures.Decode(s_codec, file, store));

        // The base library's own word for broken compressed data is taken as such by the program.
        Assert.True(exception is UnreadablePictureException or InvalidDataException, $"{exception}");
    }
}
