using ThumbnailService.Reporting;
using ThumbnailService.Trials;

namespace ThumbnailService.Tests;

public sealed class ServiceReportTests
{
    private const long Megabyte = 1 << 20;

    private static readonly ServiceLoad s_load = new(null, LimitMegabytes: 400, Requests: 2, Clients: 2, IsQuick: false);

    [Fact]
    public void Complete_LongRun_KeepsItsPeakInTheChart()
    {
        List<MemoryPoint> memory =
        [
            .. Enumerable.Range(0, 5000).Select(i => new MemoryPoint(i * 0.05, 100 * Megabyte, (i == 1234 ? 399 : 200) * Megabyte)),
        ];

        ResultDocument document = Report(Result("with a budget") with { Memory = memory });

        ResultSeries series = document.Charts[0].Series[0];
        Assert.InRange(series.Points.Count, 100, 400);
        Assert.Equal(399, series.Points.Max(point => point.Y));
    }

    [Fact]
    public void Complete_Chart_HasTheLimitAsALine()
    {
        ResultDocument document = Report(Result("a"), Result("b") with { Seconds = 70 });

        Assert.Equal([new ResultPoint(0, 400), new ResultPoint(70, 400)], document.Charts[0].Series[^1].Points);
    }

    [Fact]
    public void Complete_KilledService_SaysSoAndCountsWhatFailed()
    {
        ServiceTrialResult killed = Result("without") with
        {
            WasKilled = true,
            Outcomes = [new("a", 1, "hash", null), new("b", 2, null, "gone")],
        };

        ResultDocument document = Report(killed);

        ResultRow row = Assert.Single(document.Tables[0].Rows);
        Assert.Equal(["without", "killed"], row.Labels);
        Assert.Equal([1, 1], row.Values.Take(2));
        Assert.Contains("killed", document.Charts[0].Series[0].Name, StringComparison.Ordinal);
    }

    [Fact]
    public void Complete_NoCgroup_SaysThatNoLimitWasEnforced()
    {
        ResultDocument document = Report("Nothing is mounted.", Result("a"));

        Assert.Contains(document.Notes, note => note.EndsWith("Nothing is mounted.", StringComparison.Ordinal));
    }

    private static ResultDocument Report(params IReadOnlyList<ServiceTrialResult> results) => Report(null, results);

    private static ResultDocument Report(string? noCgroup, params IReadOnlyList<ServiceTrialResult> results)
    {
        ResultDocument document =
            MeasurementRun.NewDocument("ThumbnailService", ServiceReport.Title, new RootCommand().Parse([]));
        return new ServiceReport(s_load, files: 2, new ProcessBase(70 * Megabyte), results, noCgroup).Complete(document);
    }

    private static ServiceTrialResult Result(string name) => new()
    {
        Trial = new ServiceTrial(name, AllocatorKind.Pool, null, null),
        Requests = 2,
        Outcomes = [new("a", 1, "hash", null), new("b", 3, "other", null)],
        Seconds = 60,
        Memory = [new MemoryPoint(0, Megabyte, Megabyte)],
    };
}
