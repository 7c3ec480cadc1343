namespace LoadResizeSave.Tests;

public class ReportingTests
{
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
