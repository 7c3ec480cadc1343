using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The response to a request whose endpoint does not run, as problem details. It contains no figures of the server; these are logged.
/// </summary>
/// <param name="Status">The status code.</param>
/// <param name="Title">What happened, in a few words.</param>
/// <param name="Detail">What the client can do.</param>
/// <param name="RetryAfterSeconds">When the client may try again; null if trying again is useless.</param>
/// <param name="Reason">The text to be logged, with figures.</param>
internal sealed record Refusal(int Status, string Title, string Detail, int? RetryAfterSeconds, string Reason)
{
    private const int LongestRetrySeconds = 30;

    /// <summary>A response that no client receives: the client has gone.</summary>
    public static readonly Refusal ClientGone = new(StatusCodes.Status499ClientClosedRequest, "", "", null, "");

    /// <summary>Refuses a request that found no room in time, or never fits.</summary>
    public static Refusal Of(MemoryLimitExceededException exception, TimeSpan timeout) =>
        exception.IsTransient ? Busy(timeout, exception.Message) : TooLarge(exception.Message);

    /// <summary>Refuses a request for now.</summary>
    public static Refusal Busy(TimeSpan timeout, string reason)
    {
        // Random, so that clients refused together do not come back together. Rounded up, because 0 would mean now.
        double seconds = timeout < TimeSpan.Zero ? LongestRetrySeconds : Math.Clamp(timeout.TotalSeconds, 1, LongestRetrySeconds);
        int retry = (int)Math.Ceiling(seconds * (1 + (Random.Shared.NextDouble() / 2)));
        return new Refusal(
            StatusCodes.Status503ServiceUnavailable,
            "The server is busy.",
            string.Create(
                CultureInfo.InvariantCulture, $"There is no memory for this request at the moment. Try again in {retry} seconds."),
            retry,
            reason);
    }

    /// <summary>Refuses a request for good.</summary>
    public static Refusal TooLarge(string reason) => new(
        StatusCodes.Status413PayloadTooLarge,
        "The request is too large.",
        "This request needs more memory than the server has for one request. Send less, or smaller images.",
        null,
        reason);

    /// <summary>Refuses a request whose body the server, or the estimate, cannot accept.</summary>
    public static Refusal BadRequest(BadHttpRequestException exception) =>
        new(exception.StatusCode, "The request cannot be accepted.", exception.Message, null, exception.Message);

    /// <summary>Refuses a request whose header the estimate cannot read. The message of the exception is not for clients.</summary>
    public static Refusal Unreadable(string reason) => new(
        StatusCodes.Status422UnprocessableEntity,
        "The request cannot be accepted.",
        "This is no file that the server can read.",
        null,
        reason);

    /// <summary>Writes the response.</summary>
    public async Task WriteAsync(HttpContext context)
    {
        HttpResponse response = context.Response;
        if (response.HasStarted)
        {
            // The response was started by earlier middleware. A truncated response must not look complete.
            context.Abort();
            return;
        }

        response.StatusCode = Status;
        if (Status == StatusCodes.Status499ClientClosedRequest)
        {
            return;
        }

        response.Headers.CacheControl = "no-store";
        if (RetryAfterSeconds is { } seconds)
        {
            response.Headers.RetryAfter = seconds.ToString(CultureInfo.InvariantCulture);
        }

        ProblemDetails problem = new() { Type = "about:blank", Title = Title, Status = Status, Detail = Detail };
        if (context.RequestServices.GetService<IProblemDetailsService>() is { } service
            && await service.TryWriteAsync(new ProblemDetailsContext { HttpContext = context, ProblemDetails = problem })
            && (response.HasStarted || response.ContentType is not null))
        {
            return;
        }

        // For controllers without [ApiController] the writer says that it has written, and has not.
        await WriteAsync(response, problem);
    }

    // Written here: the application may have no JSON serializer for problem details, or none for the types that the client accepts.
    private static async Task WriteAsync(HttpResponse response, ProblemDetails problem)
    {
        ArrayBufferWriter<byte> json = new();
        using (Utf8JsonWriter writer = new(json))
        {
            writer.WriteStartObject();
            writer.WriteString("type", problem.Type);
            writer.WriteString("title", problem.Title);
            writer.WriteNumber("status", problem.Status!.Value);
            writer.WriteString("detail", problem.Detail);
            writer.WriteEndObject();
        }

        response.ContentType = "application/problem+json";
        await response.Body.WriteAsync(json.WrittenMemory);
    }
}
