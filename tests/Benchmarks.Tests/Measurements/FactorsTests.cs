using Measurements.Factors;

namespace Measurements.Tests;

/// <summary>The program that measures factors decodes what it says, and chooses the pictures that it says.</summary>
public class FactorsTests
{
    private const int Width = 32;
    private const int Height = 16;

    // Lossy formats give a flat colour back to a few steps.
    private const int Tolerance = 8;

    private static readonly Rgb24 s_colour = new(200, 100, 50);

    // 32 x 16 pixels of that colour, by cjpeg, cwebp, cjxl and avifenc of Debian 12, and a PNG.
    private static readonly Dictionary<string, string> s_files = new()
    {
        ["libpng, RGB"] =
            "iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAIAAAD4YuoOAAAAHUlEQVR42mM4kWJEU8QwasGoBaMWjFowasFQsAAAjnW8H1RpsbUAAAAASUVORK"
            + "5CYII=",
        ["libjpeg-turbo, baseline 4:2:0"] =
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGB"
            + "YUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAQ"
            + "ACADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
            + "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
            + "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
            + "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
            + "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
            + "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCpRRRX4ef0gFFFFAH/2Q==",
        ["libjpeg-turbo, progressive 4:4:4"] =
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGB"
            + "YUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAQ"
            + "ACADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAWAQEBAQAAAAAAAAAAAAAAAAAABgf/2gAMAwEAAhADEAAAAYw+kAAAD//EAB"
            + "QQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEAAQUCD//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQMBAT8BD//EABQRAQAAAAAAAAAAAAAAAAAA"
            + "ADD/2gAIAQIBAT8BD//EABQQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEABj8CD//EABQQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEAAT8hD//aAA"
            + "wDAQACAAMAAAAQkkkk/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAwEBPxAP/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAgEBPxAP/8QA"
            + "FBABAAAAAAAAAAAAAAAAAAAAMP/aAAgBAQABPxAP/9k=",
        ["libwebp, lossy"] =
            "UklGRkgAAABXRUJQVlA4IDwAAABQAwCdASogABAAPjEUiEKiISEYBAAgAwSgB2APwA/AABViAAD+xO///1lV8lR+5L//92Ttlcj/eNQAAAA=",
        ["libwebp, lossless"] =
            "UklGRh4AAABXRUJQVlA4TBEAAAAvH8ADAAdQsiJXpv+BiOh/AAA=",
        ["libjxl, lossy"] =
            "/wrDQUJxIQASCAEA8ABd5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwSBKLIO4GLgkEEEDMYwDHgD00PgAMoACVJAA=",
        ["libjxl, lossless"] =
            "/wrDQUBxIQgCAQCYAEsSCRIYOARBSIH0jzE4PwZ9DPoYnP8HIHwwAMCKC9AtskHxsYMC",
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
        using Raster<Rgb24> picture = codec.Decode(file, store);

        Assert.Equal((Width, Height), (picture.Width, picture.Height));
        picture.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                foreach (Rgb24 pixel in rows[y])
                {
                    Assert.InRange(pixel.R - s_colour.R, -Tolerance, Tolerance);
                    Assert.InRange(pixel.G - s_colour.G, -Tolerance, Tolerance);
                    Assert.InRange(pixel.B - s_colour.B, -Tolerance, Tolerance);
                }
            }
        });
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
        byte[] png = Convert.FromBase64String(s_files["libpng, RGB"]);
        Skip.IfNot(codecs.Any(codec => codec.Recognizes(png)), "This system does not have libpng.");
        DirectoryInfo folder = Directory.CreateTempSubdirectory("EstimateFactors-");
        try
        {
            for (int i = 0; i < 3; i++)
            {
                // Only the width of the header is read here.
                png[19] = (byte)(Width + i);
                File.WriteAllBytes(Path.Combine(folder.FullName, $"{i}.png"), png);
            }

            File.WriteAllText(Path.Combine(folder.FullName, "notes.txt"), "no picture");

            IReadOnlyList<Picture> chosen =
                PictureChoice.Choose(folder.FullName, codecs, (Width + 1) * Height, 1, out IReadOnlyList<string> skipped);

            Picture picture = Assert.Single(chosen);
            Assert.Equal(("2.png", "0.png"), (Path.GetFileName(picture.Path), Path.GetFileName(picture.WarmUp)));
            Assert.Equal(("libpng, RGB", new PictureSize(Width + 2, Height)), (picture.Kind, picture.Size));
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
            SyntheticPictures.Make(folder.FullName);
            Picture picture = PictureChoice.Choose(folder.FullName, MeasuredCodec.Load(), 1_000_000, 1, out _)[0];

            TrialPeak decode = FactorTrial.Task.Run(new FactorRequest(Operation.Decode, picture.Path, picture.WarmUp, Reduction: 4));

            long pixels = picture.Size.Pixels * 3;
            Assert.InRange(decode.PoolBytes, pixels, pixels + (4 << 20));
            Assert.InRange(decode.ProcessBytes, pixels * 9 / 10, pixels * 4);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
