using System.Buffers;
using Allocator.AspNetCore.Admission;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Allocator.AspNetCore.Tests;

/// <summary>What an endpoint reserves is put beside the limit and beside what it uses, once each.</summary>
public class EndpointUseTests
{
    [Fact]
    public async Task Requests_SeveralFit_LogOnceHowMany()
    {
        await using Service service = await StartAsync(4 << 20, isUsed: true);

        await GetAsync(service, 3);

        Log.Entry entry = Assert.Single(service.Log.Entries, entry => entry.Id == 13);
        Assert.Contains("4 such requests run at once in 16 MiB", entry.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(service.Log.Entries, entry => entry.Id is 14 or 15);
    }

    [Fact]
    public async Task Requests_OnlyOneFits_WarnOnceAndShowInTheHealthCheck()
    {
        await using Service service = await StartAsync(9 << 20, isUsed: true);

        await GetAsync(service, 3);

        Log.Entry entry = Assert.Single(service.Log.Entries, entry => entry.Id == 14);
        Assert.Equal(LogLevel.Warning, entry.Level);
        HealthReport report = await service.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        HealthReportEntry health = report.Entries["memory"];
        Assert.Contains("run one at a time", health.Description, StringComparison.Ordinal);
        Assert.Equal(9L << 20, health.Data["largestReservationBytes"]);
    }

    // The first claim is half of what is left. It says nothing about the need.
    [Theory]
    [InlineData(1 << 20, 0)]
    [InlineData(9 << 20, 1)]
    public async Task Requests_WithoutAnEstimate_WarnOfWhatTheyNeeded(int bytes, int warnings)
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", (HttpContext context) =>
            {
                context.GetMemoryReservation().Allocate<byte>(bytes).Dispose();
                return "";
            }).RequireMemory(),
            static builder => builder.Services.AddMemoryAllocator(static options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes));

        await GetAsync(service, 3);

        Assert.DoesNotContain(service.Log.Entries, static entry => entry.Id == 13);
        Log.Entry[] entries = [.. service.Log.Entries.Where(static entry => entry.Id == 14)];
        Assert.Equal(warnings, entries.Length);
        Assert.All(entries, static entry => Assert.Contains("RequireMemoryBySize", entry.Message, StringComparison.Ordinal));
    }

    // A warning at the start says that nothing can be left.
    [Fact]
    public async Task Requests_MinimumAboveAllMemory_WarnOfNothingThatIsLeft()
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", (HttpContext context) =>
            {
                context.GetMemoryReservation().Allocate<byte>(4096).Dispose();
                return "";
            }).RequireMemory(),
            static builder => builder.Services.AddMemoryAllocator(static options => options.MinimumFreeMegabytes = int.MaxValue));

        await GetAsync(service, 1);

        Assert.Contains(" of 0 MiB", Assert.Single(service.Log.Entries, static entry => entry.Id == 14).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true, 0)]
    [InlineData(false, 1)]
    public async Task Reservation_NeverUsed_IsLoggedOnce(bool isUsed, int expected)
    {
        await using Service service = await StartAsync(1 << 20, isUsed);

        await GetAsync(service, 2 * EndpointUse.UnusedRequests);

        Assert.Equal(expected, service.Log.Entries.Count(entry => entry.Id == 15));
    }

    private static Task<Service> StartAsync(long bytes, bool isUsed) => Service.StartAsync(
        app => app.MapGet("/", (HttpContext context) =>
        {
            using IMemoryOwner<byte>? used = isUsed ? context.GetMemoryReservation().Allocate<byte>(100_000) : null;
            return "";
        }).RequireMemory(_ => new ValueTask<long>(bytes)),
        builder =>
        {
            builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            builder.Services.AddHealthChecks().AddMemoryAllocator(
                configure: options => (options.DegradedBudgetUse, options.DegradedMemoryLoad) = (null, 1));
        });

    // A response may be there a little before its request has ended: the next one is not sent before its memory is back.
    private static async Task GetAsync(Service service, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Assert.Equal("", await service.Client.GetStringAsync("/"));
            await service.UntilUnusedAsync();
        }
    }
}
