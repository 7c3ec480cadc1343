using Microsoft.AspNetCore.Http;

namespace ThumbnailService.Serving;

/// <summary>
/// Makes a thumbnail of an upload. Of each request no more than the header is read before there is memory for all that it will take; those
/// that do not fit wait on their connections, where they cost next to nothing, and no thread waits for them.
/// </summary>
internal sealed class ThumbnailEndpoint(PixelStore store, PictureCodecs codecs)
{
    private const int DefaultWidth = 200;
    private const int LargestWidth = 2000;
    private const int MaximumMegapixels = 100;

    public async Task ServeAsync(HttpContext context)
    {
        if (context.Request.ContentLength is not long length || length > ThumbnailServer.LargestUpload)
        {
            context.Response.StatusCode = context.Request.ContentLength is null
                ? StatusCodes.Status411LengthRequired
                : StatusCodes.Status413PayloadTooLarge;
            return;
        }

        try
        {
            await MakeAsync(context, (int)length);

            // A client that takes its time holds nothing of the budget any more.
            _ = await context.Response.BodyWriter.FlushAsync(context.RequestAborted);
        }
        catch (UnreadablePictureException exception)
        {
            await RefuseAsync(context, StatusCodes.Status422UnprocessableEntity, exception.Message);
        }
        catch (MemoryLimitExceededException exception)
        {
            // It would not fit if it were alone, so there is no use in waiting.
            await RefuseAsync(context, StatusCodes.Status413PayloadTooLarge, exception.Message);
        }
    }

    private async Task MakeAsync(HttpContext context, int length)
    {
        using Upload upload = new(context.Request.Body, length);
        PictureHeader header = await upload.ReadHeaderAsync(codecs, context.RequestAborted);
        header.Check(MaximumMegapixels);
        PictureSize target = PictureReduction.Fit(header.Size, Width(context.Request));

        using Admission admission = await store.AdmitAsync(header.Estimate(target, store), context.RequestAborted);
        using IMemoryOwner<byte> file = await upload.ReadAsync(admission.Store, context.RequestAborted);
        using Raster<Rgb24> thumbnail = PictureReduction.Reduce(header, file.Memory, target, admission.Store);

        context.Response.ContentType = header.Codec.Extension == ".png" ? "image/png" : "image/jpeg";
        header.Codec.Encode(thumbnail, new ResponseStream(context.Response.BodyWriter), admission.Store);
    }

    private static int Width(HttpRequest request)
        => int.TryParse(
            request.Query["width"], NumberStyles.None, CultureInfo.InvariantCulture, out int width) && width is >= 1 and <= LargestWidth
            ? width
            : DefaultWidth;

    private static Task RefuseAsync(HttpContext context, int status, string reason)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain";
        return context.Response.WriteAsync(reason);
    }
}
