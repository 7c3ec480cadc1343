using ThumbnailService.Mixed;

namespace ThumbnailService.Tests;

public sealed class MixedMeasurementTests
{
    private const int TimesTheSemaphore = 4;
    private const int SmallTimesTheSemaphore = 6;

    private static readonly MixedLoad s_load = new("a load", 2, ["large-0.jpg", "small-400-0.jpg"], new HashSet<string> { "small-400-0.jpg" });

    [Fact]
    public void CreateTable_FasterSemaphoreWasKilledOnce_IsNoneToCompareWith()
    {
        ResultTable table = MixedMeasurement.CreateTable(s_load, 350,
        [
            Run("size", seconds: 12, small: 1), Run("semaphore-1", seconds: 10, small: 2), Run("semaphore-1", seconds: 10, small: 2),
            Run("semaphore-2", seconds: 5, small: 1), Run("semaphore-2", seconds: 5, small: 1, kills: 1, status: 0),
        ]);

        ResultRow ours = table.Rows[0];
        Assert.Equal(1.2, ours.Values[TimesTheSemaphore]!.Value, 6);
        Assert.Equal(0.5, ours.Values[SmallTimesTheSemaphore]!.Value, 6);
        Assert.Equal(1, table.Rows.Single(row => row.Labels[0] == "SemaphoreSlim(2)").Values[1]);
    }

    [Fact]
    public void CreateTable_NoSemaphoreAnswersAll_HasNoRatios()
    {
        ResultTable table = MixedMeasurement.CreateTable(
            s_load, 350, [Run("name", seconds: 12, small: 1), Run("semaphore-1", seconds: 10, small: 2, status: 503)]);

        Assert.All(table.Rows, row => Assert.Null(row.Values[TimesTheSemaphore]));
        Assert.All(table.Rows, row => Assert.Null(row.Values[SmallTimesTheSemaphore]));
    }

    private static MixedRun Run(string way, double seconds, double small, int kills = 0, int status = 200) => new(
        MixedWay.Get(way), s_load, kills, seconds, Busy: 0.9, PeakBytes: 300 << 20,
        [new MixedAnswer(IsSmall: true, status, small), new MixedAnswer(IsSmall: false, 200, seconds)]);
}
