using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Allocator;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Web.Middleware;
using SixLabors.ImageSharp.Web.Processors;
using SixLabors.ImageSharp.Web.Providers;
using SixLabors.ImageSharp.Web.Resolvers;
using Pool = Allocator.MemoryAllocator;

namespace Integrations;

/// <summary>Reservations for ImageSharp.Web 3: one for each image that is made. What the cache serves takes none.</summary>
public static class ImageSharpWebAdmission
{
    private const int BytesWithAlpha = 4;

    /// <summary>Sets <c>OnBeforeLoadAsync</c>, which runs on a miss of the cache only, and adds to <c>OnProcessedAsync</c>.</summary>
    /// <param name="options">The options of the middleware. A hook that is there in <c>OnBeforeLoadAsync</c> is replaced.</param>
    /// <param name="pool">The allocator, with a budget.</param>
    /// <param name="liveCopies">How many images of the full size processing holds at once: 1 for resizing, cropping and formats.</param>
    public static void ReserveEachImage(this ImageSharpMiddlewareOptions options, Pool pool, int liveCopies = 1)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(pool);
        options.OnBeforeLoadAsync = async (command, configuration) =>
        {
            HttpContext http = command.Context;
            (ImageInfo info, long fileLength) = await IdentifyAsync(http);
            bool needsAlpha = info.Metadata.DecodedImageFormat is JpegFormat && NeedsAlpha(command);
            long bytes = ImageSharpAdmission.EstimateBytes(pool, info, fileLength, needsAlpha ? BytesWithAlpha : null, liveCopies);
            MemoryReservation job = await pool.ReserveAsync(bytes, http.RequestAborted);

            // Also where decoding fails, where OnProcessedAsync does not run.
            http.Response.RegisterForDispose(job);
            http.Features.Set(job);
            return new DecoderOptions { Configuration = ImageSharpAdmission.NewConfiguration(configuration, job, info.Width) };
        };
        Func<ImageProcessingContext, Task>? other = options.OnProcessedAsync;
        options.OnProcessedAsync = async processed =>
        {
            // The image is gone: a client that reads slowly keeps nothing.
            processed.Context.Features.Get<MemoryReservation>()?.Dispose();
            if (other is not null)
            {
                await other(processed);
            }
        };
    }

    private static async Task<(ImageInfo Info, long FileLength)> IdentifyAsync(HttpContext http)
    {
        IImageProvider provider = http.RequestServices.GetServices<IImageProvider>().First(candidate => candidate.Match(http));
        IImageResolver resolver = await provider.GetAsync(http) ?? throw new FileNotFoundException();
        await using Stream stream = await resolver.OpenReadAsync();
        long length = stream.CanSeek ? stream.Length : (await resolver.GetMetaDataAsync()).ContentLength;
        return (ImageSharpAdmission.Identify(stream), length);
    }

    // A JPEG is loaded with three bytes a pixel, unless a command of this request asks for alpha.
    private static bool NeedsAlpha(ImageCommandContext command) =>
        command.Context.RequestServices.GetServices<IImageWebProcessor>()
            .Any(processor => processor.RequiresTrueColorPixelFormat(command.Commands, command.Parser, command.Culture));
}
