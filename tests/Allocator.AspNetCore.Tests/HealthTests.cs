using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Allocator.AspNetCore.Tests;

/// <summary>The health check says when memory is short, with figures.</summary>
public class HealthTests
{
    [Fact]
    public async Task Check_OverHttp_IsHealthyThenDegradedAndAnswersWith200()
    {
        await using Service service = await StartAsync(LooksAtNoMachine);

        Assert.Equal("Healthy", await service.Client.GetStringAsync("/health"));
        using (MemoryReservation most = await service.Allocator.ReserveAsync(Service.Budget * 96 / 100))
        {
            Assert.Equal("Degraded", await service.Client.GetStringAsync("/health"));
        }

        Assert.Equal("Healthy", await service.Client.GetStringAsync("/health"));
    }

    [Fact]
    public async Task Check_Data_HasTheFiguresOfItsAllocator()
    {
        await using Service service = await StartAsync();
        using MemoryReservation some = await service.Allocator.ReserveAsync(1000);

        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        KeyValuePair<string, HealthReportEntry> entry = Assert.Single(report.Entries);
        Assert.Equal("memory", entry.Key);
        Assert.Equal((1000L, Service.Budget), (entry.Value.Data["budgetUsedBytes"], entry.Value.Data["budgetBytes"]));
        Assert.Equal(
            ["memoryUsedBytes", "memoryTotalBytes", "memorySource", "rentedBytes", "retainedBytes", "committedBytes",
                "outstandingAllocations", "abandonedAllocations", "budgetUsedBytes", "budgetWaits", "budgetBytes"],
            entry.Value.Data.Keys.ToArray());
    }

    [Fact]
    public async Task AddMemoryAllocator_WithTags_GivesThemToTheCheck()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder =>
        {
            builder.Services.AddMemoryAllocator();
            builder.Services.AddHealthChecks().AddMemoryAllocator(tags: ["ready"]);
        });

        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        Assert.Contains("ready", Assert.Single(report.Entries).Value.Tags);
    }

    [Theory]
    [InlineData(0.0, null, HealthStatus.Degraded)]
    [InlineData(1.0, null, HealthStatus.Healthy)]
    [InlineData(1.0, 0.5, HealthStatus.Degraded)]
    public async Task Check_WithThresholds_UsesThem(double? load, double? use, HealthStatus expected)
    {
        await using Service service = await StartAsync(options => (options.DegradedMemoryLoad, options.DegradedBudgetUse) = (load, use));
        using MemoryReservation most = await service.Allocator.ReserveAsync(Service.Budget);

        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        Assert.Equal(expected, report.Status);
    }

    [Fact]
    public async Task Check_TooLittleFreeForAnyRequest_IsDegraded()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder =>
        {
            builder.Services.AddMemoryAllocator(options => options.MinimumFreeMegabytes = int.MaxValue);
            builder.Services.AddHealthChecks().AddMemoryAllocator(configure: options => options.DegradedMemoryLoad = 1);
        });

        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        Assert.Equal(HealthStatus.Degraded, report.Status);
        Assert.Contains("MinimumFreeMegabytes", report.Entries["memory"].Description, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(-0.1)]
    [InlineData(1.1)]
    [InlineData(double.NaN)]
    public void AddMemoryAllocator_ThresholdOutsideZeroToOne_IsRefused(double threshold)
    {
        IHealthChecksBuilder checks = new ServiceCollection().AddHealthChecks();

        Assert.Throws<ArgumentOutOfRangeException>(
            () => checks.AddMemoryAllocator(configure: options => options.DegradedMemoryLoad = threshold));
    }

    [Fact]
    public async Task Checks_OfNamedAllocators_CanBeCombined()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder =>
        {
            builder.Services.AddMemoryAllocator("uploads", options => options.MemoryBudgetMegabytes = 1);
            builder.Services.AddMemoryAllocator("pixels", options => options.MemoryBudgetMegabytes = 2);
            builder.Services.AddHealthChecks().AddMemoryAllocator("uploads", "uploads").AddMemoryAllocator("pixels", "pixels");
        });

        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        Assert.Equal((1L << 20, 2L << 20), (report.Entries["uploads"].Data["budgetBytes"], report.Entries["pixels"].Data["budgetBytes"]));
    }

    // By default a machine that is 90 % full is degraded too.
    private static void LooksAtNoMachine(MemoryAllocatorHealthOptions options) => options.DegradedMemoryLoad = 1;

    private static Task<Service> StartAsync(Action<MemoryAllocatorHealthOptions>? configure = null) => Service.StartAsync(
        app => app.MapHealthChecks("/health"),
        builder =>
        {
            builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            builder.Services.AddHealthChecks().AddMemoryAllocator(configure: configure);
        });
}
