using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Configuration.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using OpenTelemetry.Metrics;

namespace ThumbnailService.Serving;

/// <summary>The service: uploads in, thumbnails out, and what its memory does meanwhile.</summary>
internal static class ThumbnailServer
{
    /// <summary>What is sent here becomes a thumbnail.</summary>
    public const string ThumbnailsPath = "/thumbnails";

    /// <summary>What charts of a trial are drawn from, as JSON.</summary>
    public const string SamplesPath = "/history";

    private const int LargestUpload = 64 * 1024 * 1024;

    // Where neither a budget nor another part is configured: of what .NET may use, in a container three quarters of its limit.
    private const long FreePart = 8;

    // Under full load an upload may be slow because this machine is, and not its client: the usual five seconds would refuse it.
    private static readonly TimeSpan s_grace = TimeSpan.FromMinutes(1);

    // Services in containers are idle between bursts: what these leave goes within some seconds instead of minutes.
    private static readonly KeyValuePair<string, string?> s_trimPeriod = new("MemoryAllocator:TrimPeriod", "00:00:03");

    // Up to the time that a request waits: the usual ones end at 10 seconds.
    private static readonly double[] s_waits = [0, 10, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 30_000];

    /// <summary>Makes it, to be started by the caller.</summary>
    /// <param name="isProtected">Whether requests are admitted by memory, and the limit of the container is honored.</param>
    /// <param name="settings">Pairs of <c>key=value</c>, which go before environment variables and <c>appsettings.json</c>.</param>
    public static WebApplication Create(string url, bool isProtected = true, LogLevel level = LogLevel.Error, params string[] settings)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Configuration.Sources.Insert(0, new MemoryConfigurationSource { InitialData = [s_trimPeriod] });
        _ = builder.Configuration.AddCommandLine(settings);
        _ = builder.Logging.SetMinimumLevel(level).AddFilter("Microsoft.AspNetCore", LogLevel.Warning);
        _ = builder.Logging.AddSimpleConsole(console => console.SingleLine = true);
        _ = builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        _ = builder.WebHost.UseUrls(url).ConfigureKestrel(kestrel =>
        {
            kestrel.Limits.MaxRequestBodySize = LargestUpload;
            kestrel.Limits.MinRequestBodyDataRate = new MinDataRate(bytesPerSecond: 240, s_grace);
        });
        _ = builder.Services
            .AddMemoryAllocator(builder.Configuration.GetSection("MemoryAllocator"), options => Complete(options, isProtected))
            .AddSingleton<ThumbnailEndpoint>()
            .AddSingleton<MemoryHistory>()
            .AddHostedService(services => services.GetRequiredService<MemoryHistory>())
            .AddHealthChecks().AddMemoryAllocator();
        _ = builder.Services.AddOpenTelemetry().WithMetrics(metrics => metrics
            .AddMeter("Allocator*")
            .AddView("allocator.admission.duration", new ExplicitBucketHistogramConfiguration { Boundaries = s_waits })
            .AddPrometheusExporter());

        WebApplication service = builder.Build();
        ThumbnailEndpoint endpoint = service.Services.GetRequiredService<ThumbnailEndpoint>();
        IEndpointConventionBuilder thumbnails = service.MapPost(ThumbnailsPath, (HttpContext context) => endpoint.ServeAsync(context));
        if (isProtected)
        {
            _ = thumbnails.RequireMemory(endpoint.EstimateAsync);
        }

        _ = service.MapHealthChecks("/health");
        _ = service.MapPrometheusScrapingEndpoint();
        _ = service.MapGet(
            SamplesPath, (MemoryHistory history) => Results.Json(history.Read(), HistoryJson.Default.IReadOnlyListHistorySample));
        _ = service.MapMemoryPage().AllowAnonymous();
        return service;
    }

    private static void Complete(MemoryAllocatorOptions options, bool isProtected)
    {
        options.Name ??= "thumbnails";
        if (!isProtected)
        {
            // Everything is let in: without a number, AddMemoryAllocator would set a minimum that stays free.
            options.HonorMemoryLimit = false;
            options.MinimumFreeMegabytes = 0;
            options.SetNativeMapThreshold = true;
        }
        else if (options is { MemoryBudgetMegabytes: null, MinimumFreeMegabytes: null })
        {
            options.MinimumFreeMegabytes = (int)(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / FreePart >> 20);
        }
    }
}
