using System.Globalization;

namespace Allocator.Tests.Operators;

/// <summary>Holds what the documentation shows of the counters to what arrives from a process that does what it says there.</summary>
public class CountersPageTests
{
    // All but those of trims, of which there are none.
    private const int Series = 17;

    [Fact]
    public void Documentation_OfTheCounters_ShowsWhatArrives()
    {
        using WatchedProcess process = new(
            RemoteExecutor.Invoke(static () =>
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions
                    {
                        Name = "photos",
                        MaximumPoolSizeMegabytes = 512,
                        MemoryBudgetMegabytes = 1024,
                        TrimPeriod = TimeSpan.FromHours(1),
                    });
                using PixelBuffer<int> picture = allocator.AllocatePixels<int>(5120, 2880);
                allocator.AllocatePixels<int>(5120, 2880).Dispose();
                allocator.AllocatePixels<int>(5120, 2880).Dispose();
                using IMemoryOwner<byte> line = allocator.Allocate<byte>(20_000);
                WatchedProcess.WaitUntilWatched();
                WatchedProcess.RepeatWhileWatched(static () => { });
            }),
            WatchedProcess.Metrics,
            new("Allocator", System.Diagnostics.Tracing.EventLevel.Warning));

        // The last thing that the process does: what was read before it is not shown. Twice, because a slow collection may have read the
        // rest of its figures before.
        for (int i = 0; i < 2; i++)
        {
            process.Take("CounterRateValuePublished", static values => values["instrumentName"] is "allocator.rents"
                && values["value"] is "4");
        }

        SortedDictionary<string, string> lines = new(StringComparer.Ordinal);
        while (lines.Count < Series)
        {
            IReadOnlyDictionary<string, object> series = process.TakeWhere(
                static name => name.EndsWith("ValuePublished", StringComparison.Ordinal));
            lines[(string)series["instrumentName"]] = Describe(series);
            Assert.Equal("Allocator", series["meterName"]);
        }

        // Two pictures, each in 15 blocks of 4 MiB.
        Assert.Contains("allocator.name=photos", lines["allocator.memory.peak_committed"]);
        Assert.EndsWith(" 125,829,120", lines["allocator.memory.peak_committed"]);

        string expected = string.Join('\n', lines.Values.Prepend("[Allocator]"));
        // The page leaves some out.
        string[] shown = Assert.Single(Blocks("docs/diagnostics.md")).Split('\n');
        Assert.NotEmpty(shown);
        Assert.All(shown, line => Assert.Contains(line, expected.Split('\n')));
    }

    private static string Describe(IReadOnlyDictionary<string, object> series)
    {
        string value = (string)(series.TryGetValue("lastValue", out object? last) ? last : series["value"]);
        long number = long.Parse(value, CultureInfo.InvariantCulture);
        return string.Create(
            CultureInfo.InvariantCulture, $"    {$"{series["instrumentName"]} ({series["unit"]})",-50}{series["tags"],-25}{number,15:N0}");
    }

    private static IEnumerable<string> Blocks(string page)
    {
        return File.ReadAllText(Repository.PathTo(page))
            .ReplaceLineEndings("\n")
            .Split("```\n")
            .Select(static block => block.TrimEnd())
            .Where(static block => block.StartsWith("[Allocator]", StringComparison.Ordinal));
    }
}
