using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Allocator.AspNetCore.Tests;

/// <summary>A web application on a port of its own, with an allocator of 16 MiB unless a test wants another.</summary>
internal sealed class Service : IAsyncDisposable
{
    public const int BudgetMegabytes = 16;
    public const long Budget = (long)BudgetMegabytes << 20;

    private readonly WebApplication _application;

    private Service(WebApplication application, Log log)
    {
        _application = application;
        Log = log;
        Address = new Uri(application.Urls.Single());
        Client = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = 1000 }) { BaseAddress = Address };
    }

    public Log Log { get; }

    public Uri Address { get; }

    public HttpClient Client { get; }

    public IServiceProvider Services => _application.Services;

    public MemoryAllocator Allocator => Services.GetRequiredService<MemoryAllocator>();

    /// <summary>Gets what is reserved or outstanding.</summary>
    public long Used => Allocator.GetStatistics().BudgetUsedBytes;

    /// <summary>Starts one. Without services of the test, an allocator with a budget of 16 MiB is added.</summary>
    public static async Task<Service> StartAsync(
        Action<WebApplication> map, Action<WebApplicationBuilder>? add = null, HttpProtocols protocols = HttpProtocols.Http1)
    {
        Log log = new();
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0")
            .ConfigureKestrel(kestrel => kestrel.ConfigureEndpointDefaults(endpoint => endpoint.Protocols = protocols));
        builder.Logging.ClearProviders().AddProvider(log).SetMinimumLevel(LogLevel.Debug);
        if (add is null)
        {
            builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = BudgetMegabytes);
        }
        else
        {
            add(builder);
        }

        WebApplication application = builder.Build();
        try
        {
            map(application);
            await application.StartAsync();
            return new Service(application, log);
        }
        catch
        {
            await application.DisposeAsync();
            throw;
        }
    }

    /// <summary>Connects to it without a client that knows HTTP.</summary>
    public Task<RawConnection> ConnectAsync() => RawConnection.OpenAsync(new IPEndPoint(IPAddress.Loopback, Address.Port));

    /// <summary>Waits until requests wait for memory.</summary>
    public Task UntilWaitsAsync(long count) => Patience.UntilAsync(() => Allocator.GetStatistics().BudgetWaits >= count);

    /// <summary>Waits until all memory has come back.</summary>
    public Task UntilUnusedAsync() => Patience.UntilAsync(() => Used == 0 && Allocator.GetStatistics().OutstandingAllocations == 0);

    public Task StopAsync() => _application.StopAsync();

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _application.DisposeAsync();
    }
}
