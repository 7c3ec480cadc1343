using ThumbnailService.Loading;
using ThumbnailService.Reporting;
using ThumbnailService.Serving;
using ThumbnailService.Trials;

namespace ThumbnailService.Tests;

public sealed class ServiceReportTests
{
    private const long Megabyte = 1 << 20;

    private static readonly DateTimeOffset s_start = new(2026, 11, 23, 0, 0, 0, TimeSpan.Zero);
    private static readonly UploadFile s_file = new("a.jpg", [1]);

    [Fact]
    public void Faults_GoodRun_AreNone() => Assert.Empty(Result(isProtected: true).Faults);

    [Fact]
    public void Faults_BadRun_AreNamed()
    {
        ServiceTrialResult good = Result(isProtected: true);
        HistorySample idle = good.History![^1];

        Assert.Equal("killed", (good with { Kills = 1 }).Faults.First());
        Assert.Equal("1 requests not sent", (good with { Requests = 3 }).Faults.Single());
        Assert.Equal("16.0 MiB stayed", (good with { EndBytes = good.StartBytes + (16 * Megabyte) + 1 }).Faults.Single());
        Assert.Contains(
            "reserved", (good with { History = [idle with { Reserved = 1 }] }).Faults.Single());
        Assert.Contains("reserved", (good with { History = null }).Faults.Single());
        Assert.Equal("wrong", (good with { Outcomes = [Outcome(1), Outcome(2) with { Failure = "wrong" }] }).Faults.Single());
        Assert.Contains("a.jpg", (good with { Outcomes = [Outcome(1), Outcome(2) with { Thumbnail = "other" }] }).Faults.Single());
    }

    [Fact]
    public void Complete_LongRun_KeepsItsPeakInTheChartAndHasTheLimitAsALine()
    {
        List<ChargePoint> charges =
        [
            .. Enumerable.Range(0, 5000).Select(i => new ChargePoint(s_start.AddMilliseconds(i * 50), (i == 1234 ? 399 : 200) * Megabyte)),
        ];

        ResultDocument document = Report(Result(isProtected: true) with { Charges = charges }, Result(isProtected: false));

        ResultChart chart = Assert.Single(document.Charts);
        Assert.InRange(chart.Series[1].Points.Count, 100, 400);
        Assert.Equal(399, chart.Series[1].Points.Max(point => point.Y));
        Assert.Equal([400, 400], chart.Series[0].Points.Select(point => point.Y));
    }

    [Fact]
    public void Complete_SeveralRuns_CountsAnswersByStatus()
    {
        ServiceTrialResult refused = Result(isProtected: true) with
        {
            Outcomes = [Outcome(1), Outcome(5) with { Status = 503, Thumbnail = null }],
        };

        ResultDocument document = Report(Result(isProtected: true), refused, Result(isProtected: false) with { Kills = 1 });

        Assert.Equal(["400 MiB", "admitted by memory", "all 2 good"], document.Tables[0].Rows[0].Labels);
        Assert.Equal([2, 0, 1.5, 0.5], document.Tables[0].Rows[0].Values.Take(4));
        Assert.Equal("killed", document.Tables[0].Rows[1].Labels[2]);
        Assert.Equal([3, 2, 3, 3, 3], document.Tables[1].Rows[0].Values);
        Assert.Equal([1, 5, 5, 5, 5], document.Tables[1].Rows[1].Values);
        Assert.Contains("killed", document.Charts[0].Series[^1].Name, StringComparison.Ordinal);
    }

    [Fact]
    public void Mix_TwentyRequests_HaveOneOfEachHostileKind()
    {
        LoadMix mix = new([s_file with { Data = [1, 2, 3, 4] }], [s_file with { Name = "bomb" }]);

        IEnumerable<LoadRequest> round = Enumerable.Range(0, 20).Select(i => mix[i]);

        Assert.Equal(14, round.Count(request => request.Kind == RequestKind.Whole));
        Assert.Equal(2, round.Count(request => request is { Kind: RequestKind.Bomb, File.Name: "bomb" }));
        Assert.Equal([1, 2], round.Single(request => request.Kind == RequestKind.Cut).File.Data);
        Assert.Equal(RequestKind.GoneSending, mix[7].Kind);
        Assert.Equal(RequestKind.GoneWaiting, mix[27].Kind);
    }

    private static ResultDocument Report(params IReadOnlyList<ServiceTrialResult> results)
    {
        ResultDocument document = MeasurementRun.NewDocument("ThumbnailService", ServiceReport.Title, new RootCommand().Parse([]));
        return new ServiceReport(requests: 2, clients: 2, [s_file], TimeSpan.FromSeconds(1)).Complete(document, results);
    }

    private static RequestOutcome Outcome(double seconds) => new(new LoadRequest(RequestKind.Whole, s_file), seconds, 200, "hash", null);

    private static ServiceTrialResult Result(bool isProtected) => new()
    {
        Trial = new ServiceTrial(400, isProtected),
        Requests = 2,
        Outcomes = [Outcome(2), Outcome(3)],
        Started = s_start,
        Seconds = 60,
        Charges = [new ChargePoint(s_start, Megabyte)],
        StartBytes = 50 * Megabyte,
        EndBytes = 60 * Megabyte,
        History = [new HistorySample(s_start.ToUnixTimeMilliseconds(), 0, 0, 0)],
    };
}
