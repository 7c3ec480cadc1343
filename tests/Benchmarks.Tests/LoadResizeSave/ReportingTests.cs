using System.Xml.Linq;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using LoadResizeSave.Running;

namespace LoadResizeSave.Tests;

public class ReportingTests
{
    [Fact]
    public void Render_SeveralRuns_DrawsBothCurvesOfEachInsideThePicture()
    {
        string svg = new MemoryChart([Runs.Create(AllocatorKind.Pool), Runs.Create(AllocatorKind.GC)]).Render();

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
        MeasuredRun first = Runs.Create(AllocatorKind.Pool);
        MeasuredRun second = Runs.Create(AllocatorKind.GC) with { Saved = [new("a", 1, "00"), new("b", 1, "99")] };

        OutputComparison comparison = new([first, second]);

        Assert.False(comparison.AreIdentical);
        Assert.Equal(["b"], comparison.Differences);
        Assert.True(new OutputComparison([first, first]).AreIdentical);
    }

    [Fact]
    public void AreIdentical_OneFileSkipped_IsFalse()
    {
        MeasuredRun first = Runs.Create(AllocatorKind.Pool);

        Assert.False(new OutputComparison([first, first with { Saved = [.. first.Saved.Take(1)] }]).AreIdentical);
    }
}
