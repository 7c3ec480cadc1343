using Measurements.Factors;
using Measuring.Tests;

namespace Measurements.Tests;

/// <summary>The program that measures factors chooses the pictures that it says, and sees at least their pixels.</summary>
public sealed class FactorsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public FactorsTests() => SyntheticPictures.Make(_folder.Path);

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Choose_AFolder_TakesTheLargestOfEachKindAndASmallOneBesideThem()
    {
        File.WriteAllText(_folder.At("notes.txt"), "no picture");
        File.WriteAllText(_folder.At("broken.png"), "no picture either");

        IReadOnlyList<Picture> chosen = PictureChoice.Choose(_folder.Path, 1_000_000, 1, out IReadOnlyList<string> skipped);

        Assert.Equal(
            ["JPEG, one scan, 4:2:0", "JPEG, several scans, 4:2:0", "PNG", "WEBP"], chosen.Select(picture => picture.Kind));
        Assert.All(chosen, picture => Assert.Equal(new PictureSize(2400, 1600), picture.Size));
        Assert.All(chosen, picture => Assert.StartsWith("240x160", Path.GetFileName(picture.WarmUp)));
        Assert.StartsWith("broken.png: ", Assert.Single(skipped));
    }

    [SkippableTheory]
    [InlineData(false)]
    [InlineData(true)]
    public void Run_SkiaSharp_SeesThePixels(bool isThumbnail)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "The peak of the resident set is set back on Linux only.");
        Picture picture = PictureChoice.Choose(_folder.Path, 1_000_000, 1, out _)[0];

        FactorPeak peak = FactorTrial.Task.Run(new FactorRequest("SkiaSharp", isThumbnail, picture.Path, picture.WarmUp));

        long pixels = picture.Size.Pixels * 4;
        Assert.InRange(peak.Bytes, pixels * 9 / 10, pixels * 4);
    }
}
