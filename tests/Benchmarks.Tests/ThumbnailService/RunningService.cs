using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using ThumbnailService.Serving;

namespace ThumbnailService.Tests;

/// <summary>The service in this process, and a client of it.</summary>
internal sealed class RunningService : IAsyncDisposable
{
    public const int BudgetMegabytes = 32;

    private readonly WebApplication _service;

    private RunningService(WebApplication service)
    {
        _service = service;
        Client = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { BaseAddress = new Uri(service.Urls.First()) };
    }

    public HttpClient Client { get; }

    public MemoryAllocator Allocator => _service.Services.GetRequiredService<MemoryAllocator>();

    public static async Task<RunningService> StartAsync(bool isProtected = true)
    {
        WebApplication service = ThumbnailServer.Create(
            "http://127.0.0.1:0", isProtected, LogLevel.Error, $"MemoryAllocator:MemoryBudgetMegabytes={BudgetMegabytes}");
        await service.StartAsync();
        return new RunningService(service);
    }

    public Task<HttpResponseMessage> PostAsync(byte[] picture, string query = "?width=40", CancellationToken cancellationToken = default)
        => Client.PostAsync(
            new Uri(ThumbnailServer.ThumbnailsPath + query, UriKind.Relative), new ByteArrayContent(picture), cancellationToken);

    public Task<string> GetAsync(string path) => Client.GetStringAsync(new Uri(path, UriKind.Relative));

    /// <summary>Waits until so many requests have waited, or wait, for the budget.</summary>
    public Task UntilWaitingAsync(int requests) => UntilAsync(statistics => statistics.BudgetWaits >= requests);

    /// <summary>Waits until nothing is outstanding, or taken of the budget; fails where that never comes.</summary>
    public Task UntilNothingIsOutstandingAsync()
        => UntilAsync(statistics => statistics is { OutstandingAllocations: 0, BudgetUsedBytes: 0 });

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _service.DisposeAsync();
    }

    private async Task UntilAsync(Func<MemoryAllocatorStatistics, bool> isThere)
    {
        Stopwatch waited = Stopwatch.StartNew();
        while (!isThere(Allocator.GetStatistics()))
        {
            Assert.True(waited.Elapsed < TimeSpan.FromSeconds(60), Allocator.GetStatistics().ToString());
            await Task.Yield();
        }
    }
}
