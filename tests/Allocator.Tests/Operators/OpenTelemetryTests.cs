using System.Globalization;
using OpenTelemetry;
using OpenTelemetry.Metrics;

namespace Allocator.Tests.Operators;

/// <summary>The meter in the hands of OpenTelemetry, in a process of its own that exports into a file.</summary>
public class OpenTelemetryTests
{
    private const int Block = 4 << 20;

    [Fact]
    public void Exporter_OfAnotherProcess_GetsOnePointForEachNameAndTotalsThatNeverFall()
    {
        string file = Path.GetTempFileName();
        try
        {
            RemoteExecutor.Invoke(Export, file).Dispose();
            string[] lines = File.ReadAllLines(file);

            Assert.Equal(lines.Length, new HashSet<string>(lines).Count);
            Assert.Contains($"0 allocator.memory.rented LongSumNonMonotonic By allocator.name=photos {3 * Block}", lines);
            Assert.Contains($"0 allocator.memory.committed LongSumNonMonotonic By allocator.name=photos {3 * Block}", lines);
            Assert.Contains($"0 allocator.memory.peak_committed LongGauge By allocator.name=photos {3 * Block}", lines);
            Assert.Contains($"0 allocator.budget.limit LongSumNonMonotonic By allocator.name=budgeted {64 << 20}", lines);
            Assert.Contains("0 allocator.rents LongSum {rent} allocator.name=photos 3", lines);

            // One allocator of the name has ended by then.
            Assert.Contains($"1 allocator.memory.rented LongSumNonMonotonic By allocator.name=photos {Block}", lines);
            Assert.Contains("1 allocator.rents LongSum {rent} allocator.name=photos 3", lines);
            Assert.Contains($"1 allocator.trims LongSum {{trim}} allocator.name=photos,allocator.trim.reason=requested 1", lines);
        }
        finally
        {
            File.Delete(file);
        }
    }

    private static void Export(string file)
    {
        using StreamWriter writer = new(file);
        using LineExporter exporter = new(writer);
        using MeterProvider provider = Sdk.CreateMeterProviderBuilder()
            .AddMeter("Allocator")
            .AddReader(new BaseExportingMetricReader(exporter))
            .Build();
        using MemoryAllocator one = Create("photos");
        using MemoryAllocator budgeted = Create("budgeted", budgetMegabytes: 64);
        using IMemoryOwner<byte> a = one.Allocate<byte>(Block);
        using (MemoryAllocator other = Create("photos"))
        {
            other.AllocateGroup<byte>(2 * Block).Dispose();
            using MemoryGroup<byte> held = Hold(other);
            Assert.True(provider.ForceFlush());
        }

        exporter.Round++;
        Assert.True(provider.ForceFlush());

        // What the provider exports when it is disposed.
        exporter.Round++;
    }

    // The idle blocks of the group before it.
    private static MemoryGroup<byte> Hold(MemoryAllocator allocator) => allocator.AllocateGroup<byte>(2 * Block);

    private static MemoryAllocator Create(string name, int? budgetMegabytes = null) => MemoryAllocator.Create(
        new MemoryAllocatorOptions
        {
            Name = name,
            MaximumPoolSizeMegabytes = 32,
            MemoryBudgetMegabytes = budgetMegabytes,
            TrimPeriod = TimeSpan.FromHours(1),
        });

    private sealed class LineExporter(TextWriter writer) : BaseExporter<Metric>
    {
        public int Round { get; set; }

        public override ExportResult Export(in Batch<Metric> batch)
        {
            foreach (Metric metric in batch)
            {
                foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
                {
                    List<string> tags = [];
                    foreach (KeyValuePair<string, object?> tag in point.Tags)
                    {
                        tags.Add($"{tag.Key}={tag.Value}");
                    }

                    long value = metric.MetricType == MetricType.LongGauge ? point.GetGaugeLastValueLong() : point.GetSumLong();
                    writer.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Round} {metric.Name} {metric.MetricType} "
                        + $"{metric.Unit} {string.Join(',', tags)} {value}"));
                }
            }

            return ExportResult.Success;
        }
    }
}
