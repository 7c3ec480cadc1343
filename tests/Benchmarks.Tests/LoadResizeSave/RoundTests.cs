using LoadResizeSave.Reporting;

namespace LoadResizeSave.Tests;

public class RoundTests
{
    [Fact]
    public void Create_FiveRounds_HasQuartilesAndMedians()
    {
        ResultTable table = Table("Each allocator", Runs.Rounds((300, 100), (100, 100), (500, 100), (200, 100), (400, 100)));

        Assert.Equal([200, 300, 400], Column(table, "peak RSS").Take(3));
        Assert.Equal(
            [["pool", "lower quartile"], ["pool", "median"], ["pool", "upper quartile"]], table.Rows.Take(3).Select(row => row.Labels));
        Assert.Equal(["unpooled", "median"], table.Rows[4].Labels);
        Assert.Equal(
            [1, 24, 3, 3, 0, 1000, 5], Values(table, 1, "photographs", "megapixels", "CPU", "user", "system", "page faults", "GC"));
    }

    [Fact]
    public void Create_Ratios_AreMediansOfRatiosAndNotRatiosOfMedians()
    {
        // The medians are 200 and 100, the ratios 3, 2 and 0.25.
        List<Round> rounds = Runs.Rounds((300, 100), (200, 100), (100, 400));

        Assert.Equal(1 / 2.0, Assert.Single(Column(Table("Medians of the ratios to pool in the same round", rounds), "peak RSS")));

        ResultTable aims = Table("What the pool has to reach", rounds);
        Assert.Equal(["peak RSS", "unpooled"], aims.Rows[0].Labels);
        Assert.Equal([0.25, 2, 3, 1.1], aims.Rows[0].Values.Select(value => value!.Value));
        Assert.Equal(["CPU", "unpooled"], aims.Rows[1].Labels);
    }

    [Fact]
    public void Create_WithoutThePool_ComparesWithTheFirstAndHasNoAims()
    {
        Round round = new(1, [Runs.Create(AllocatorKind.ArrayPool), Runs.Create(AllocatorKind.GC, cpuSeconds: 6)]);

        IReadOnlyList<ResultTable> tables = Report([round, round with { Number = 2 }]).Tables;

        Assert.Equal(2, tables.Count);
        Assert.Equal("Medians of the ratios to ArrayPool in the same round", tables[1].Title);
        Assert.Equal([2], Column(tables[1], "CPU"));
    }

    [Fact]
    public void Create_SystemThatDoesNotTellFaults_LeavesThemOut()
    {
        MeasuredRun run = Runs.Create(AllocatorKind.Pool);
        Round round = new(1, [run with { Cost = run.Cost with { MinorFaults = null } }, Runs.Create(AllocatorKind.Unpooled)]);

        Assert.Equal([null, 1000], Column(Table("Each allocator", [round]), "page faults"));
        Assert.Equal([null], Column(Table("Medians of the ratios to pool in the same round", [round]), "page faults"));
    }

    [Fact]
    public void Create_TimesOfZero_HaveNoRatio()
        => Assert.Equal([null], Column(Table("Medians of the ratios to pool in the same round", Runs.Rounds((1, 1))), "system"));

    [Fact]
    public void NearestToMedians_SeveralRounds_IsTheOneNearestToTheMedians()
        => Assert.Equal(3, Round.NearestToMedians(Runs.Rounds((300, 900), (100, 100), (290, 110), (500, 120), (200, 10))).Number);

    [Fact]
    public void Complete_ThreeRounds_ShowsEachOfThemAndThePictureOfOne()
    {
        List<Round> rounds = Runs.Rounds((300, 100), (100, 100), (200, 100));

        ResultDocument document = Report(rounds);

        Assert.Equal([new(1, 300), new(2, 100), new ResultPoint(3, 200)], document.Charts[1].Series[0].Points);
        Assert.Equal(["pool", "unpooled"], document.Charts[0].Series.Select(series => series.Name));
        Assert.Equal("Memory over time, round 3", Assert.Single(document.Pictures).Title);
        Assert.Contains(document.Notes, note => note.Contains("the same in all 6 runs"));
    }

    [Fact]
    public void Complete_OneRound_HasARowForEachAllocatorAndNoChart()
    {
        ResultDocument document = Report(Runs.Rounds((300, 100)));

        Assert.Equal([["pool", "one"], ["unpooled", "one"]], document.Tables[0].Rows.Select(row => row.Labels));
        Assert.Equal(2, document.Tables.Count);
        Assert.Empty(document.Charts);
    }

    private static ResultTable Table(string title, IReadOnlyList<Round> rounds)
        => Report(rounds).Tables.Single(table => table.Title == title);

    private static ResultDocument Report(IReadOnlyList<Round> rounds)
    {
        MeasurementRun run = CommandLineTests.Run("--runs", "3");
        return new RoundReport(rounds, JobCommand.Read(run)).Complete(run.NewDocument("title"), TimeSpan.FromMinutes(20));
    }

    private static List<double?> Column(ResultTable table, string name)
    {
        int index = table.Columns.Select(column => column.Name).ToList().IndexOf(name);
        return [.. table.Rows.Select(row => row.Values[index])];
    }

    private static IEnumerable<double?> Values(ResultTable table, int row, params IEnumerable<string> names)
        => names.Select(name => Column(table, name)[row]);
}
