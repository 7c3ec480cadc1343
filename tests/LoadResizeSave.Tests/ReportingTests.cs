using System;
using System.Linq;
using System.Xml.Linq;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using LoadResizeSave.Running;
using Xunit;

namespace LoadResizeSave.Tests;

public class ReportingTests
{
    [Fact]
    public void Render_SeveralRuns_DrawsBothCurvesOfEachInsideThePicture()
    {
        string svg = new MemoryChart([Run(AllocatorKind.Pool), Run(AllocatorKind.GC)]).Render();

        XElement root = XDocument.Parse(svg).Root!;
        XNamespace ns = root.Name.Namespace;
        Assert.Equal(1 + (2 * 3), root.Elements(ns + "path").Count());
        double height = (double)root.Attribute("height")!;
        Assert.All(root.Elements(ns + "text"), text => Assert.InRange((double)text.Attribute("y")!, 0, height));
        foreach (string text in (string[])["memory, MB", "time, seconds", "pool", "GC arrays", "work ends", "released"])
        {
            Assert.Contains(text, root.Elements(ns + "text").Select(element => element.Value));
        }
    }

    [Fact]
    public void AreIdentical_OneDifferentFile_IsFalseAndNamesIt()
    {
        MeasuredRun first = Run(AllocatorKind.Pool);
        MeasuredRun second = Run(AllocatorKind.GC) with { Saved = [new("a", 1, "00"), new("b", 1, "99")] };

        OutputComparison comparison = new([first, second]);

        Assert.False(comparison.AreIdentical);
        Assert.Equal(["b"], comparison.Differences);
        Assert.True(new OutputComparison([first, first]).AreIdentical);
    }

    [Fact]
    public void AreIdentical_OneFileSkipped_IsFalse()
    {
        MeasuredRun first = Run(AllocatorKind.Pool);

        Assert.False(new OutputComparison([first, first with { Saved = [.. first.Saved.Take(1)] }]).AreIdentical);
    }

    private static MeasuredRun Run(AllocatorKind kind) => new()
    {
        Allocator = kind,
        WallSeconds = 2,
        Pictures = 2,
        Megapixels = 48,
        Cost = new ProcessCounters { UserTime = TimeSpan.FromSeconds(3) },
        InitialResidentBytes = 30_000_000,
        PeakResidentBytes = 400_000_000,
        FinalResidentBytes = 50_000_000,
        ReleasedAt = 3,
        Samples = [.. Enumerable.Range(0, 200).Select(i => new MemorySample(i * 0.02, 1_000_000L * i, 500_000L * i))],
        Saved = [new("a", 1, "00"), new("b", 1, "11")],
        Skipped = [new("c", "damaged")],
    };
}
