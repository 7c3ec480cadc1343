using System.Diagnostics.Metrics;
using OpenTelemetry;
using OpenTelemetry.Metrics;

namespace Allocator.AspNetCore.Tests;

/// <summary>OpenTelemetry sees the instruments of the library and of this package by their names alone.</summary>
[Collection(nameof(MetricsTests))]
public class MetricsTests
{
    [Fact]
    public async Task Exporter_WithAWildcard_GetsAllocatorsAndAdmission()
    {
        string name = $"metrics-{Guid.NewGuid():N}";
        PointExporter exporter = new();
        using MeterProvider provider = Sdk.CreateMeterProviderBuilder()
            .AddMeter("Allocator*")
            .AddReader(new BaseExportingMetricReader(exporter))
            .Build();
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(1 << 20));
                app.MapGet("/large", () => "").RequireMemory(_ => new ValueTask<long>(1 << 30));
                app.MapGet("/busy", () => "").RequireMemory(_ => new ValueTask<long>(16 << 20), TimeSpan.Zero);
            },
            builder => builder.Services.AddMemoryAllocator(options =>
            {
                options.Name = name;
                options.MemoryBudgetMegabytes = Service.BudgetMegabytes;
            }));

        MemoryReservation all = await service.Allocator.ReserveAsync(Service.Budget);
        Task<HttpResponseMessage> waiting = service.Client.GetAsync("/");
        await service.UntilWaitsAsync(1);
        await Patience.UntilAsync(() =>
        {
            provider.ForceFlush();
            return exporter.Points.Contains($"allocator.admission.waiting allocator.name={name} 1");
        });
        (await service.Client.GetAsync("/large")).Dispose();
        (await service.Client.GetAsync("/busy")).Dispose();
        all.Dispose();
        (await waiting).Dispose();
        await service.UntilUnusedAsync();

        Assert.True(provider.ForceFlush());
        Assert.Contains($"allocator.admission.waiting allocator.name={name} 0", exporter.Points);
        foreach (string outcome in new[] { "admitted", "busy", "too_large" })
        {
            Assert.Contains(
                $"allocator.admission.duration allocator.admission.outcome={outcome},allocator.name={name} 1", exporter.Points);
        }

        foreach (int status in new[] { 413, 503 })
        {
            Assert.Contains($"allocator.admission.refused allocator.name={name},http.response.status_code={status} 1", exporter.Points);
        }

        Assert.Contains($"allocator.budget.limit allocator.name={name} {Service.Budget}", exporter.Points);
        Assert.Contains($"allocator.budget.usage allocator.name={name} 0", exporter.Points);
    }

    /// <summary>One that was attached when the request began to wait would have to tell the others.</summary>
    [Fact]
    public async Task Listener_StartsLate_SeesWaitingRequests()
    {
        string name = $"metrics-{Guid.NewGuid():N}";
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "done").RequireMemory(_ => new ValueTask<long>(Service.Budget)),
            builder => builder.Services.AddMemoryAllocator(
                options => (options.Name, options.MemoryBudgetMegabytes) = (name, Service.BudgetMegabytes)));
        MemoryReservation all = await service.Allocator.ReserveAsync(Service.Budget);
        Task<string> waiting = service.Client.GetStringAsync("/");
        await service.UntilWaitsAsync(1);

        using MeterListener listener = new();
        long requests = 0;
        listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Name == "allocator.admission.waiting")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((_, value, tags, _) =>
        {
            if (IsOf(name, tags))
            {
                requests = value;
            }
        });
        listener.Start();
        await Patience.UntilAsync(() =>
        {
            listener.RecordObservableInstruments();
            return requests == 1;
        });

        all.Dispose();
        Assert.Equal("done", await waiting);
        listener.RecordObservableInstruments();
        Assert.Equal(0, requests);
    }

    [Fact]
    public async Task Listener_Throws_FailsNoRequest()
    {
        string name = $"metrics-{Guid.NewGuid():N}";
        int thrown = 0;
        using MeterListener listener = new();
        listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == "Allocator.AspNetCore")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((_, _, tags, _) => ThrowFor(name, tags, ref thrown));
        listener.SetMeasurementEventCallback<double>((_, _, tags, _) => ThrowFor(name, tags, ref thrown));
        listener.Start();
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "done").RequireMemory(_ => new ValueTask<long>(Service.Budget)),
            builder => builder.Services.AddMemoryAllocator(
                options => (options.Name, options.MemoryBudgetMegabytes) = (name, Service.BudgetMegabytes)));
        MemoryReservation all = await service.Allocator.ReserveAsync(Service.Budget);

        Task<string> waiting = service.Client.GetStringAsync("/");
        await service.UntilWaitsAsync(1);
        all.Dispose();

        Assert.Equal("done", await waiting);
        await service.UntilUnusedAsync();
        Assert.True(Volatile.Read(ref thrown) > 0, "The listener was told nothing.");
    }

    private static void ThrowFor(string name, ReadOnlySpan<KeyValuePair<string, object?>> tags, ref int thrown)
    {
        if (IsOf(name, tags))
        {
            Interlocked.Increment(ref thrown);
            throw new InvalidOperationException();
        }
    }

    private static bool IsOf(string name, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        foreach (KeyValuePair<string, object?> tag in tags)
        {
            if (name.Equals(tag.Value))
            {
                return true;
            }
        }

        return false;
    }

    private sealed class PointExporter : BaseExporter<Metric>
    {
        /// <summary>Gets the points of the last collection.</summary>
        public List<string> Points { get; private set; } = [];

        public override ExportResult Export(in Batch<Metric> batch)
        {
            List<string> points = [];
            foreach (Metric metric in batch)
            {
                foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
                {
                    List<string> tags = [];
                    foreach (KeyValuePair<string, object?> tag in point.Tags)
                    {
                        tags.Add($"{tag.Key}={tag.Value}");
                    }

                    long value = metric.MetricType switch
                    {
                        MetricType.Histogram => point.GetHistogramCount(),
                        MetricType.LongGauge => point.GetGaugeLastValueLong(),
                        _ => point.GetSumLong(),
                    };
                    points.Add($"{metric.Name} {string.Join(',', tags.Order())} {value}");
                }
            }

            Points = points;
            return ExportResult.Success;
        }
    }
}
