using System.Buffers;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>Endpoints without an estimate, and code in them that is handed no reservation.</summary>
public class LearnedRequestTests
{
    private const long Megabyte = 1 << 20;

    [Fact]
    public async Task RequireMemory_WithoutAnEstimate_LearnsForEachEndpoint()
    {
        await using Service service = await Service.StartAsync(static app =>
        {
            app.MapGet("/large", static (HttpContext context, MemoryAllocator allocator) => Use(context, allocator, 8)).RequireMemory();
            app.MapGet("/small", static (HttpContext context, MemoryAllocator allocator) => Use(context, allocator, 4)).RequireMemory();
        });

        Assert.Equal($"{12 * Megabyte}", await service.Client.GetStringAsync("/large"));
        for (int i = 0; i < 15; i++)
        {
            await service.Client.GetStringAsync("/large");
        }

        Assert.Equal($"{8 * Megabyte}", await service.Client.GetStringAsync("/large"));
        Assert.Equal($"{12 * Megabyte}", await service.Client.GetStringAsync("/small"));
        Assert.Contains("HTTP: GET /large: 8 MiB after 17 jobs", service.Allocator.DescribeMemory(), StringComparison.Ordinal);
        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task RequireMemory_ManyAtOnceWithNoNumber_ServesAll()
    {
        await using Service service = await Service.StartAsync(
            static app => app.MapGet("/", static async (HttpContext context, MemoryAllocator allocator) =>
            {
                await Task.Yield();
                return Use(context, allocator, 8);
            }).RequireMemory(),
            static builder => builder.Services.AddMemoryAllocator());

        Task<HttpResponseMessage>[] all = [.. Enumerable.Range(0, 64).Select(_ => service.Client.GetAsync("/"))];
        Assert.All(await Task.WhenAll(all).WaitAsync(Patience.Limit), static response => Assert.True(response.IsSuccessStatusCode));
        Assert.Single(service.Log.Entries, static entry => entry.Id == 20);
    }

    [Fact]
    public async Task RequireMemory_WithAnEstimate_IsAmbientToo()
    {
        await using Service service = await Service.StartAsync(static app => app
            .MapGet("/", static async (HttpContext context, MemoryAllocator allocator) =>
            {
                await Task.Yield();
                using IMemoryOwner<byte> owner = await Task.Run(() => allocator.Allocate<byte>(4 << 20));
                return context.GetMemoryReservation().RemainingBytes;
            }).RequireMemory(static _ => new ValueTask<long>(6 * Megabyte)));

        Assert.Equal($"{2 * Megabyte}", await service.Client.GetStringAsync("/"));
        using IMemoryOwner<byte> outside = service.Allocator.Allocate<byte>(4 << 20);
        await Patience.UntilAsync(() => service.Used == 4 * Megabyte);
    }

    /// <summary>Without its own time a request would be refused too, after half a minute.</summary>
    [Fact]
    public async Task RequireMemory_WithATimeAndNoEstimate_RefusesWhenThatIsOver()
    {
        await using Service service = await Service.StartAsync(
            static app => app.MapGet("/", static () => "done").RequireMemory(TimeSpan.Zero));
        using (await service.Allocator.ReserveAsync(Service.Budget))
        {
            using HttpResponseMessage response = await service.Client.GetAsync("/").WaitAsync(Patience.Limit / 2);
            Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        }

        Assert.Equal("done", await service.Client.GetStringAsync("/"));
        await service.UntilUnusedAsync();
    }

    [Theory]
    [InlineData(MemoryLoadSource.ControlGroup, 512, 102)]
    [InlineData(MemoryLoadSource.JobObject, 350, 70)]
    [InlineData(MemoryLoadSource.ControlGroup, 100, 32)]
    [InlineData(MemoryLoadSource.Machine, 8192, 819)]
    [InlineData(MemoryLoadSource.None, 0, null)]
    public void Compute_OfWhatTheSystemHas_IsAPartOfIt(MemoryLoadSource source, long totalMegabytes, int? expected) =>
        Assert.Equal(expected, DefaultLimit.Compute(new MemoryLoad { Source = source, TotalBytes = totalMegabytes << 20 }));

    [Theory]
    [InlineData(200, null)]
    [InlineData(null, 50)]
    [InlineData(null, 0)]
    public async Task AddMemoryAllocator_WithALimit_KeepsIt(int? budget, int? minimumFree)
    {
        await using Service service = await Service.StartAsync(static _ => { }, builder => builder.Services.AddMemoryAllocator(options =>
        {
            options.MemoryBudgetMegabytes = budget;
            options.MinimumFreeMegabytes = minimumFree;
        }));

        MemoryAllocatorOptions options = service.Services.GetRequiredService<IOptionsMonitor<MemoryAllocatorOptions>>().CurrentValue;
        Assert.Equal((budget, minimumFree), (options.MemoryBudgetMegabytes, options.MinimumFreeMegabytes));
        Assert.DoesNotContain(service.Log.Entries, static entry => entry.Id == 20);
    }

    private static long Use(HttpContext context, MemoryAllocator allocator, int megabytes)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(megabytes << 20);
        return context.GetMemoryReservation().ReservedBytes;
    }
}
