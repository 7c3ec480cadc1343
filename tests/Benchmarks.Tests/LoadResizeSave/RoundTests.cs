using System.Xml.Linq;
using LoadResizeSave.Pixels;
using LoadResizeSave.Reporting;
using LoadResizeSave.Running;
using Measuring.Results;

namespace LoadResizeSave.Tests;

public class RoundTests
{
    [Fact]
    public void Order_FortyRoundsOfThree_BeginsWithEachEquallyOften()
    {
        string[] items = ["a", "b", "c"];

        List<string[]> orders = [.. Enumerable.Range(0, 40).Select(round => Rotation.Order(items, round).ToArray())];

        Assert.Equal(["a", "b", "c"], orders[0]);
        Assert.Equal(["b", "c", "a"], orders[1]);
        Assert.Equal(["c", "a", "b"], orders[2]);
        Assert.All(orders, order => Assert.Equal(items, order.Order()));
        Assert.All(items, item => Assert.InRange(orders.Count(order => order[0] == item), 13, 14));
    }

    [Fact]
    public void Create_FiveRounds_HasQuartilesAndMedians()
    {
        ResultTable table = Table("Each allocator", Runs.Rounds((300, 100), (100, 100), (500, 100), (200, 100), (400, 100)));

        Assert.Equal([200, 300, 400], Column(table, "peak RSS").Take(3));
        Assert.Equal([["pool", "lower quartile"], ["pool", "median"], ["pool", "upper quartile"]], table.Rows.Take(3).Select(row => row.Labels));
        Assert.Equal(["unpooled", "median"], table.Rows[4].Labels);
        Assert.Equal([1, 24, 3, 3, 0, 1000, 5], Values(table, 1, "photographs", "megapixels", "CPU", "user", "system", "page faults", "GC"));
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
        List<Round> rounds = [new(1, [Runs.Create(AllocatorKind.ArrayPool), Runs.Create(AllocatorKind.GC, cpuSeconds: 6)])];

        List<ResultTable> tables = [.. new RoundTables(rounds).Create()];

        Assert.Equal(2, tables.Count);
        Assert.Equal("Medians of the ratios to ArrayPool in the same round", tables[1].Title);
        Assert.Equal([2], Column(tables[1], "CPU"));
    }

    [Fact]
    public void Create_OneAllocator_HasNoRatios()
        => Assert.Single(new RoundTables([new(1, [Runs.Create(AllocatorKind.Pool)])]).Create());

    [Fact]
    public void Create_SystemThatDoesNotTellFaults_LeavesThemOut()
    {
        MeasuredRun run = Runs.Create(AllocatorKind.Pool);
        Round round = new(1, [run with { Cost = run.Cost with { MinorFaults = null } }, Runs.Create(AllocatorKind.Unpooled)]);

        Assert.Equal([null, null, null, 1000, 1000, 1000], Column(Table("Each allocator", [round]), "page faults"));
        Assert.Equal([null], Column(Table("Medians of the ratios to pool in the same round", [round]), "page faults"));
    }

    [Fact]
    public void Create_TimesOfZero_HaveNoRatio()
        => Assert.Equal([null], Column(Table("Medians of the ratios to pool in the same round", Runs.Rounds((1, 1))), "system"));

    [Fact]
    public void Find_SeveralRounds_IsTheOneNearestToTheMedians()
        => Assert.Equal(3, MedianRound.Find(Runs.Rounds((300, 900), (100, 100), (290, 110), (500, 120), (200, 10))).Number);

    [Fact]
    public void Complete_ThreeRounds_ShowsEachOfThemAndThePictureOfOne()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("rounds-");
        try
        {
            JobOptions options = new CommandLine().Read(["--runs", "3", "--output", folder.FullName]);
            RoundReport report = new(Runs.Rounds((300, 100), (100, 100), (200, 100)), options);

            ResultDocument document = report.Complete(CommandLine.NewDocument(report.Title, new CommandLine().Root.Parse(["--runs", "3"])), TimeSpan.FromMinutes(20));
            report.SaveChart();

            Assert.Equal("LoadResizeSave", document.Program);
            Assert.Equal("dotnet run -c Release --project benchmarks/LoadResizeSave -- --runs 3", document.Command);
            Assert.Equal([new(1, 300), new(2, 100), new ResultPoint(3, 200)], document.Charts[1].Series[0].Points);
            Assert.Equal(["pool", "unpooled"], document.Charts[0].Series.Select(series => series.Name));
            ResultPicture picture = Assert.Single(document.Pictures);
            Assert.Equal("Memory over time, round 3", picture.Title);
            Assert.Equal("svg", XDocument.Load(Path.Combine(folder.FullName, picture.File)).Root!.Name.LocalName);
            Assert.Contains(document.Notes, note => note.Contains("the same in all 6 runs"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static ResultTable Table(string title, IReadOnlyList<Round> rounds) => new RoundTables(rounds).Create().Single(table => table.Title == title);

    private static List<double?> Column(ResultTable table, string name)
    {
        int index = table.Columns.Select(column => column.Name).ToList().IndexOf(name);
        return [.. table.Rows.Select(row => row.Values[index])];
    }

    private static IEnumerable<double?> Values(ResultTable table, int row, params IEnumerable<string> names) => names.Select(name => Column(table, name)[row]);
}
