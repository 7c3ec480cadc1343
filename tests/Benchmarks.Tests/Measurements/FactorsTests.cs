using Measurements.Factors;

namespace Measurements.Tests;

/// <summary>The program that measures factors decodes what it says, and chooses the pictures that it says.</summary>
public class FactorsTests
{
    private const int Width = 32;
    private const int Height = 16;

    // Lossy formats give a flat colour back to a few steps.
    private const int Tolerance = 8;

    private static readonly byte[] s_colour = [200, 100, 50];

    // 32 x 16 pixels of that colour, by cwebp and avifenc of Debian 12.
    private static readonly Dictionary<string, string> s_files = new()
    {
        ["libwebp, lossy"] =
            "UklGRkgAAABXRUJQVlA4IDwAAABQAwCdASogABAAPjEUiEKiISEYBAAgAwSgB2APwA/AABViAAD+xO///1lV8lR+5L//92Ttlcj/eNQAAAA=",
        ["libwebp, lossless"] =
            "UklGRh4AAABXRUJQVlA4TBEAAAAvH8ADAAdQsiJXpv+BiOh/AAA=",
        ["libavif"] =
            "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aW"
            + "YAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACAAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29s"
            + "b3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAACAAAAAQAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgSAAAAAAABNjb2xybmNseAABAA"
            + "0ABoAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAAChtZGF0EgAKCDgQ/+wgIaDSMhIWQAYYYYUAVb7FVtNOeibWyIA=",
    };

    public static TheoryData<string> Kinds() => [.. s_files.Keys];

    [SkippableTheory]
    [MemberData(nameof(Kinds))]
    public void Decode_AFileOfEachKind_IsRecognizedAndHasItsColour(string kind)
    {
        byte[] file = Convert.FromBase64String(s_files[kind]);
        MeasuredCodec? codec = MeasuredCodec.Load().SingleOrDefault(codec => codec.Recognizes(file));
        Skip.If(codec is null, "This system does not have the library.");
        using PixelStore store = PixelStore.Create(AllocatorKind.Pool, TimeSpan.FromMinutes(1));

        Assert.Equal(kind, codec!.Describe(file));
        Assert.Equal(new PictureSize(Width, Height), codec.ReadSize(file));
        using Raster picture = codec.Decode(file, store);

        Assert.Equal(new PictureSize(Width, Height), picture.Size);
        for (int i = 0; i < Width * Height * Raster.BytesPerPixel; i++)
        {
            int channel = i % Raster.BytesPerPixel;
            Assert.InRange(picture.Bytes[i] - (channel == 3 ? 255 : s_colour[channel]), -Tolerance, Tolerance);
        }
    }

    [SkippableTheory]
    [MemberData(nameof(Kinds))]
    public void Decode_CutShort_ThrowsAndLeavesNothing(string kind)
    {
        byte[] file = Convert.FromBase64String(s_files[kind]);
        MeasuredCodec? codec = MeasuredCodec.Load().SingleOrDefault(codec => codec.Recognizes(file));
        Skip.If(codec is null, "This system does not have the library.");
        using PixelStore store = PixelStore.Create(AllocatorKind.Pool, TimeSpan.FromMinutes(1));

        // Within the pixels, which are last in all of these formats; the end of a PNG is a chunk without any.
        Assert.Throws<UnreadablePictureException>(() => codec!.Decode(file.AsMemory(0, file.Length - 20), store));

        Assert.Equal(0, store.Statistics!.Value.RentedBytes);
    }

    [SkippableFact]
    public void Choose_AFolder_TakesTheLargestOfEachKindAndASmallOneBesideThem()
    {
        IReadOnlyList<MeasuredCodec> codecs = MeasuredCodec.Load();
        byte[] webP = Convert.FromBase64String(s_files["libwebp, lossless"]);
        Skip.IfNot(codecs.Any(codec => codec.Recognizes(webP)), "This system does not have libwebp.");
        DirectoryInfo folder = Directory.CreateTempSubdirectory("EstimateFactors-");
        try
        {
            for (int i = 0; i < 3; i++)
            {
                // Only the width of the header, less 1, is read here.
                webP[21] = (byte)(Width - 1 + i);
                File.WriteAllBytes(Path.Combine(folder.FullName, $"{i}.webp"), webP);
            }

            File.WriteAllText(Path.Combine(folder.FullName, "notes.txt"), "no picture");

            IReadOnlyList<Picture> chosen =
                PictureChoice.Choose(folder.FullName, codecs, (Width + 1) * Height, 1, out IReadOnlyList<string> skipped);

            Picture picture = Assert.Single(chosen);
            Assert.Equal(("2.webp", "0.webp"), (Path.GetFileName(picture.Path), Path.GetFileName(picture.WarmUp)));
            Assert.Equal(("libwebp, lossless", new PictureSize(Width + 2, Height)), (picture.Kind, picture.Size));
            Assert.Empty(skipped);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [SkippableFact]
    public void Run_AnOperation_TakesAtLeastThePixelsOfThePool()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "The peak of the resident set is set back on Linux only.");
        DirectoryInfo folder = Directory.CreateTempSubdirectory("EstimateFactors-");
        try
        {
            Skip.If(MeasuredCodec.Load().Count == 0, "This system has neither libwebp nor libavif.");
            SyntheticPictures.Make(folder.FullName);
            Picture picture = PictureChoice.Choose(folder.FullName, MeasuredCodec.Load(), 1_000_000, 1, out _)[0];

            TrialPeak decode = FactorTrial.Task.Run(new FactorRequest(Operation.Decode, picture.Path, picture.WarmUp, Reduction: 4));

            long pixels = picture.Size.Pixels * Raster.BytesPerPixel;
            Assert.InRange(decode.PoolBytes, pixels, pixels + (4 << 20));
            Assert.InRange(decode.ProcessBytes, pixels * 9 / 10, pixels * 4);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
