using Microsoft.AspNetCore.Builder;
using ThumbnailService.Serving;

namespace ThumbnailService.Tests;

/// <summary>The service in this process, and a client of it.</summary>
internal sealed class RunningService : IAsyncDisposable
{
    private readonly WebApplication _service;

    private RunningService(WebApplication service, PixelStore store)
    {
        _service = service;
        Store = store;
        Client = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { BaseAddress = new Uri(service.Urls.First()) };
    }

    public HttpClient Client { get; }

    public PixelStore Store { get; }

    public static async Task<RunningService> StartAsync(int? budgetMegabytes)
    {
        AllocatorKind kind = budgetMegabytes is null ? AllocatorKind.Pool : AllocatorKind.Budget;
        PixelStore store = PixelStore.Create(kind, TimeSpan.FromMinutes(1), budgetMegabytes);
        WebApplication service = ThumbnailServer.Create("http://127.0.0.1:0", store, new PictureCodecs(useLibjpeg: true));
        await service.StartAsync();
        return new RunningService(service, store);
    }

    public Task<HttpResponseMessage> PostAsync(byte[] picture, string query = "?width=40")
        => Client.PostAsync(new Uri("/thumbnails" + query, UriKind.Relative), new ByteArrayContent(picture));

    /// <summary>Waits until so many requests have waited, or wait, for the budget.</summary>
    public async Task UntilWaitingAsync(int requests)
    {
        while (Store.Statistics!.Value.BudgetWaits < requests)
        {
            await Task.Yield();
        }
    }

    /// <summary>Waits until nothing is outstanding, or taken of the budget; fails where that never comes.</summary>
    public async Task UntilNothingIsOutstandingAsync()
    {
        Stopwatch waited = Stopwatch.StartNew();
        while (Store.Statistics!.Value is { OutstandingAllocations: > 0 } or { BudgetUsedBytes: > 0 })
        {
            Assert.True(waited.Elapsed < TimeSpan.FromSeconds(30), Store.Statistics!.Value.ToString());
            await Task.Yield();
        }
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _service.DisposeAsync();
        Store.Dispose();
    }
}
