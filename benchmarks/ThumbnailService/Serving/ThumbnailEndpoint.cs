using Allocator.AspNetCore;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Logging;

namespace ThumbnailService.Serving;

/// <summary>Makes a thumbnail of an upload, when there is memory for all that it takes.</summary>
internal sealed partial class ThumbnailEndpoint(
    MemoryAllocator allocator, MemoryHistory history, ILogger<ThumbnailEndpoint> logger)
{
    private const int DefaultWidth = 200;
    private const int LargestWidth = 2000;
    private const int MaximumMegapixels = 100;

    private static readonly int[] s_headerLengths = [SourceHeader.UsualLength, SourceHeader.LongestLength];

    // Not disposed: the allocator is the application's.
    private readonly BlockStore _store = new(allocator);

    /// <summary>Returns what a request takes, by the header of its picture. Nothing is decoded for it.</summary>
    /// <exception cref="BadHttpRequestException">It is no picture, or promises pixels that it cannot hold: 422.</exception>
    public async ValueTask<long> EstimateAsync(HttpContext context)
    {
        bool hasBody = context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody != false;
        long length = hasBody ? context.Request.Body.Length : 0;
        foreach (int most in s_headerLengths)
        {
            int wanted = (int)Math.Min(length, most);
            byte[] start = ArrayPool<byte>.Shared.Rent(Math.Max(1, wanted));
            try
            {
                if (hasBody)
                {
                    context.Request.Body.Position = 0;
                    await context.Request.Body.ReadExactlyAsync(start.AsMemory(0, wanted), context.RequestAborted);
                }

                return Estimate(SourceHeader.Read(start.AsMemory(0, wanted), length), context.Request);
            }
            catch (UnreadablePictureException exception) when (wanted == length || most == s_headerLengths[^1])
            {
                throw new BadHttpRequestException(exception.Message, StatusCodes.Status422UnprocessableEntity, exception);
            }
            catch (UnreadablePictureException)
            {
                // The header goes on behind what was read.
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(start);
            }
        }

        throw new UnreachableException();
    }

    /// <summary>Answers with the thumbnail, or 422 where the picture cannot be decoded. A refusal of memory is the caller's.</summary>
    public async Task ServeAsync(HttpContext context)
    {
        MemoryReservation? reservation = context.Features.Get<IMemoryReservationFeature>()?.Reservation;
        using IDisposable? watched = history.Watch(reservation);
        long began = Stopwatch.GetTimestamp();
        try
        {
            using PooledMemoryStream thumbnail = await MakeAsync(context, reservation ?? allocator);

            // A client that takes its time holds no more than its thumbnail.
            reservation?.Dispose();
            context.Response.ContentLength = thumbnail.Length;
            await thumbnail.CopyToAsync(context.Response.Body, context.RequestAborted);
            LogServed(
                context.Request.ContentLength,
                (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds,
                (reservation?.PeakUsedBytes ?? 0) >> 20,
                (reservation?.ReservedBytes ?? 0) >> 20);
        }
        catch (UnreadablePictureException exception)
        {
            await Results.Problem(exception.Message, statusCode: StatusCodes.Status422UnprocessableEntity).ExecuteAsync(context);
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            // The client has gone.
        }
    }

    private async Task<PooledMemoryStream> MakeAsync(HttpContext context, MemoryAllocator memory)
    {
        // Its length is known where the whole body is there, and where the client has said it.
        HttpRequest request = context.Request;
        int length = checked((int)(request.ContentLength ?? request.Body.Length));
        using IMemoryOwner<byte> file = memory.Allocate<byte>(length);
        await request.Body.ReadExactlyAsync(file.Memory, context.RequestAborted);

        // Once more where an estimate has looked at it; where all are let in, none has.
        SourceHeader header = SourceHeader.Read(file.Memory, length);
        header.Check(MaximumMegapixels);
        using Raster thumbnail = header.Resize(file.Memory, Target(header, request), new BlockStore(memory));
        PooledMemoryStream encoded = memory.CreateStream();
        try
        {
            thumbnail.Encode(encoded, header.Format);
            encoded.Position = 0;
            context.Response.ContentType = $"image/{header.Format.ToString().ToLowerInvariant()}";
            return encoded;
        }
        catch
        {
            await encoded.DisposeAsync();
            throw;
        }
    }

    private long Estimate(SourceHeader header, HttpRequest request)
    {
        header.Check(MaximumMegapixels);
        PictureSize target = Target(header, request);
        return header.Estimate(target, _store) + _store.Estimate(Raster.LengthOf(target));
    }

    private static PictureSize Target(SourceHeader header, HttpRequest request)
    {
        bool isNumber = int.TryParse(request.Query["width"], NumberStyles.None, CultureInfo.InvariantCulture, out int width);
        return header.Size.FitWidth(isNumber && width is >= 1 and <= LargestWidth ? width : DefaultWidth);
    }

    [LoggerMessage(
        1,
        LogLevel.Debug,
        "An upload of {FileBytes} bytes took {Milliseconds} ms and {PeakMegabytes} MiB; {ReservedMegabytes} were reserved.")]
    private partial void LogServed(long? fileBytes, long milliseconds, long peakMegabytes, long reservedMegabytes);
}
