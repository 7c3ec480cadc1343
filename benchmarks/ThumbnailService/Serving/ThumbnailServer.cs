using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace ThumbnailService.Serving;

/// <summary>The service: uploads in, thumbnails out.</summary>
internal static class ThumbnailServer
{
    public const int LargestUpload = 64 * 1024 * 1024;

    // What Kestrel reads ahead of a request that waits is in no budget; by default it is a megabyte each.
    private const int ReadAheadBytes = 64 * 1024;

    // Under full load an upload may be slow because this machine is, and not its client: the usual five seconds would refuse it.
    private static readonly TimeSpan s_grace = TimeSpan.FromMinutes(1);

    /// <summary>Makes it, to be started by the caller, with all pixels and uploads in memory of <paramref name="store"/>.</summary>
    public static WebApplication Create(string url, PixelStore store, PictureCodecs codecs)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        _ = builder.Logging.SetMinimumLevel(LogLevel.Error).AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        _ = builder.WebHost.UseUrls(url).ConfigureKestrel(kestrel =>
        {
            kestrel.Limits.MaxRequestBodySize = LargestUpload;
            kestrel.Limits.MaxRequestBufferSize = ReadAheadBytes;
            kestrel.Limits.MinRequestBodyDataRate = new MinDataRate(bytesPerSecond: 240, s_grace);
        });
        _ = builder.Services.AddSingleton(store).AddSingleton(codecs).AddSingleton<ThumbnailEndpoint>();

        WebApplication service = builder.Build();
        ThumbnailEndpoint endpoint = service.Services.GetRequiredService<ThumbnailEndpoint>();
        _ = service.MapPost("/thumbnails", (HttpContext context) => endpoint.ServeAsync(context));
        _ = service.MapGet("/statistics", () => Results.Json(store.Statistics));
        return service;
    }
}
