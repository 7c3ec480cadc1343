using System.Diagnostics;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Http.Timeouts;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// One request: its body is received, then its memory is reserved, then its endpoint runs. Each step may end with a refusal, which is
/// written when the request holds nothing any more.
/// </summary>
internal sealed class AdmittedRequest : IMemoryReservationFeature
{
    // Kestrel's message if a client closes its connection before the end of the body. Its status code is that of any bad request.
    private const string UnexpectedEnd = "Unexpected end of request content.";

    private readonly HttpContext _context;
    private readonly MemoryAllocator _allocator;
    private readonly MemoryRequirement _requirement;
    private readonly ILogger _logger;
    private readonly AdmissionMeter? _meter;
    private (Stream Stream, long Position)? _body;
    private readonly SemaphoreSlim _turns = new(1, 1);
    private MemoryReservation? _reservation;
    private bool _wasRefused;

    public AdmittedRequest(HttpContext context, MemoryAllocator allocator, MemoryRequirement requirement)
    {
        _context = context;
        _allocator = allocator;
        _requirement = requirement;
        _logger = context.RequestServices.GetService<ILogger<AdmittedRequest>>() ?? NullLogger<AdmittedRequest>.Instance;
        _meter = context.RequestServices.GetService<AdmissionMeter>();
    }

    public MemoryReservation Reservation => _reservation ?? throw new InvalidOperationException(
        $"{EndpointName ?? "This request"} has no memory reserved yet: its estimate runs before. Use the allocator of the application.");

    private string? EndpointName => _context.GetEndpoint()?.DisplayName;

    // Actions of a controller that have one name differ in their routes.
    private string JobName => _context.GetEndpoint() is RouteEndpoint { DisplayName: { } name, RoutePattern.RawText: { } route }
        && !name.Contains(route, StringComparison.Ordinal)
        ? $"{name} {route}"
        : EndpointName ?? "";

    // The timeout of another middleware cancels the token too, and that middleware needs the exception.
    private bool IsTimedOut => _context.Features.Get<IHttpRequestTimeoutFeature>()?.RequestTimeoutToken.IsCancellationRequested == true;

    private bool IsClientGone => _context.RequestAborted.IsCancellationRequested && !IsTimedOut;

    public Stream OpenBody() => _body is null ? new MemoryStream([], writable: false) : OpenBody(0, null);

    /// <summary>Runs the endpoint, or writes why it does not run.</summary>
    public async Task RunAsync(RequestDelegate endpoint)
    {
        if (await TryRunAsync(endpoint) is { } refusal)
        {
            if (refusal != Refusal.ClientGone)
            {
                AllocatorLog.Refused(_logger, EndpointName, refusal.Status, refusal.Reason);
                _meter?.AddRefused(_allocator, refusal.Status);
            }

            await refusal.WriteAsync(_context);
        }
    }

    /// <summary>Notes how much was reserved and used, if anything was reserved.</summary>
    public void NoteUse(EndpointUse use)
    {
        if (_reservation is { } reservation)
        {
            bool isLearned = _requirement.Kind != RequirementKind.Bytes;
            use.Note(_context.RequestServices, _logger, EndpointName, _allocator, reservation, isLearned);
        }
    }

    private BodyView OpenBody(long offset, long? length)
    {
        (Stream stream, long position) = _body!.Value;
        ObjectDisposedException.ThrowIf(!stream.CanRead, this);
        return new BodyView(stream, position + offset, _turns, length);
    }

    // The estimate also reads the body through the feature.
    private async Task<Refusal?> TryRunAsync(RequestDelegate endpoint)
    {
        try
        {
            Refusal? refusal = await ReceiveBodyAsync();
            if (refusal is not null)
            {
                return refusal;
            }

            _context.Features.Set<IMemoryReservationFeature>(this);
            RunState? before = RunState.Capture(_context);
            refusal = await ReserveAsync() ?? await RunReservedAsync(endpoint);
            if (refusal is not null && _wasRefused && before?.MayRunAgain == true)
            {
                // Its need is known now. Its memory is returned before it runs again.
                AllocatorLog.RunsAgain(_logger, EndpointName, refusal.Reason);
                _reservation!.Dispose();
                before.Restore();
                refusal = await ReserveAsync() ?? await RunReservedAsync(endpoint);
            }

            return refusal;
        }
        catch (Exception exception) when (ManagedShortage.IsCauseOf(exception))
        {
            AllocatorLog.ManagedMemoryShort(_logger, EndpointName, exception);
            if (_context.Response.HasStarted)
            {
                // The server closes the connection, because a truncated response must not look complete.
                throw;
            }

            _context.Response.Clear();
            return Refusal.Busy(_requirement.Timeout, "The managed heap is full.");
        }
        finally
        {
            // Disposed here, whatever has failed since it was granted. The object is kept for its figures.
            _reservation?.Dispose();
            _context.Features.Set<IMemoryReservationFeature>(null);
        }
    }

    private async Task<Refusal?> ReceiveBodyAsync()
    {
        if (_context.Features.Get<IHttpExtendedConnectFeature>()?.IsExtendedConnect == true)
        {
            return null;
        }

        if (_context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody == false)
        {
            // A measure may read it synchronously, which the server's own stream refuses.
            ReplaceBody(Stream.Null);
            return null;
        }

        HttpRequest request = _context.Request;
        bool isBuffered = request.Body is BufferedBodyStream || request.Body.CanSeek;
        try
        {
            if (isBuffered)
            {
                // Another middleware buffered it, or an earlier run of a pipeline that runs again. Here it is only received.
                _body = (request.Body, request.Body.Position);
                await request.Body.CopyToAsync(Stream.Null, _context.RequestAborted);
            }
            else
            {
                BufferedBody body = new();
                _context.Response.RegisterForDisposeAsync(body);
                await body.ReceiveAsync(request.BodyReader, _context.RequestAborted);
                _body = (body.Store, 0);
            }

            RewindBody();
            BufferedForm.Use(request, OpenBody);
            return null;
        }
        catch (BodyStorageException exception)
        {
            AllocatorLog.BufferingFailed(_logger, EndpointName, exception.Folder, exception);
            return Refusal.Busy(_requirement.Timeout, "The upload could not be buffered.");
        }
        catch (Exception exception) when (IsBadEncoding(exception))
        {
            return Refusal.BadRequest(
                new BadHttpRequestException("The body is not encoded as its Content-Encoding says.", exception));
        }
        catch (IOException exception) when (exception.InnerException is OverflowException)
        {
            // Kestrel throws this for a chunk whose length is not a valid number.
            return Refusal.BadRequest(new BadHttpRequestException(exception.Message, exception));
        }
        catch (Exception exception) when (IsConnectionEnd(exception, isBuffered))
        {
            return Gone("it sent its body");
        }
        catch (BadHttpRequestException exception)
        {
            return Refusal.BadRequest(exception);
        }
    }

    // Of the streams of request decompression, which read the body here.
    private static bool IsBadEncoding(Exception exception) => exception is InvalidDataException
        or InvalidOperationException { Source: "System.IO.Compression.Brotli" };

    // A connection may break shortly before the token is cancelled. A body that another middleware buffers needs the disk too.
    private bool IsConnectionEnd(Exception exception, bool isBuffered) => exception switch
    {
        OperationCanceledException => isBuffered ? IsClientGone : !IsTimedOut,
        BadHttpRequestException => exception.Message == UnexpectedEnd,
        IOException => !isBuffered || _context.RequestAborted.IsCancellationRequested,
        _ => false,
    };

    // A new stream each time, so that no bytes are missing which another reader has read ahead, and disposing it does not close the body.
    private void RewindBody()
    {
        if (_body is { } body)
        {
            body.Stream.Position = body.Position;
            ReplaceBody(new BufferedBodyStream(body.Stream, _context.Request.HasFormContentType));
        }
    }

    // A middleware may have brought a reader of its own, which knows nothing of the new stream and was read to its end here.
    private void ReplaceBody(Stream body)
    {
        _context.Request.Body = body;
        _context.Features.Set<IRequestBodyPipeFeature>(new RequestBodyPipeFeature(_context));
    }

    private async Task<Refusal?> ReserveAsync()
    {
        long measured;
        try
        {
            measured = _requirement.Measure is { } measure ? await measure(_context) : MeasureBody();
        }
        catch (BadHttpRequestException exception)
        {
            return Refusal.BadRequest(exception);
        }
        catch (MemoryLimitExceededException exception)
        {
            return Refusal.Of(exception, _requirement.Timeout);
        }
        catch (InvalidDataException exception)
        {
            return Refusal.Unreadable(exception.Message);
        }
        catch (OperationCanceledException) when (IsClientGone)
        {
            return Gone("its memory was estimated");
        }

        if (measured < (_requirement.Kind == RequirementKind.Bytes ? 0 : 1))
        {
            throw new InvalidOperationException(_requirement.Kind == RequirementKind.Bytes
                ? $"The estimate that RequireMemory has for {EndpointName} returned {measured} bytes. It must return 0 or more."
                : $"The size that RequireMemoryBySize has for {EndpointName} is {measured}. It must be at least 1.");
        }

        RewindBody();
        long began = Stopwatch.GetTimestamp();
        string outcome = AdmissionMeter.Gone;
        try
        {
            await WaitAsync(measured);
            outcome = AdmissionMeter.Admitted;
            return null;
        }
        catch (MemoryLimitExceededException exception)
        {
            outcome = exception.IsTransient ? AdmissionMeter.Busy : AdmissionMeter.TooLarge;
            return Refusal.Of(exception, _requirement.Timeout);
        }
        catch (ArgumentOutOfRangeException exception)
        {
            // The estimate is absurd, for instance from a header that lies, and there is no budget to refuse it.
            outcome = AdmissionMeter.TooLarge;
            return Refusal.TooLarge(exception.Message);
        }
        catch (OperationCanceledException) when (IsClientGone)
        {
            return Gone("it waited for memory");
        }
        catch (Exception exception) when (exception is ObjectDisposedException
            || (exception is OperationCanceledException && !_context.RequestAborted.IsCancellationRequested))
        {
            outcome = AdmissionMeter.Busy;
            return Refusal.Busy(_requirement.Timeout, "The application stops.");
        }
        finally
        {
            _meter?.Record(_allocator, began, outcome);
        }
    }

    // Without a picture, all requests of an endpoint have the same size.
    private long MeasureBody()
    {
        bool isForm = _context.Request.ContentType?.StartsWith("multipart/form-data", StringComparison.OrdinalIgnoreCase) == true;
        return _body is null ? 1
            : isForm && BufferedForm.FindRead(_context.Features) is { } form ? UploadedPicture.ExpectedBytes(form)
            : UploadedPicture.ExpectedBytes(OpenBody, isForm);
    }

    // Returns no reservation, because allocating a task for it may fail.
    private async Task WaitAsync(long measured)
    {
        _context.RequestAborted.ThrowIfCancellationRequested();
        string job = JobName;
        bool isEstimated = _requirement.Kind == RequirementKind.Bytes;

        // When the host stops, running requests may finish. Waiting ones would delay the stop and are better served elsewhere.
        CancellationToken stopping = _context.RequestServices.GetService<IHostApplicationLifetime>()?.ApplicationStopping ?? default;
        if (stopping.IsCancellationRequested
            && (isEstimated ? _allocator.TryReserve(measured, out _reservation) : _allocator.TryReserve(job, measured, out _reservation)))
        {
            return;
        }

        using CancellationTokenSource end = CancellationTokenSource.CreateLinkedTokenSource(_context.RequestAborted, stopping);
        ValueTask<MemoryReservation> reserving = isEstimated
            ? _allocator.ReserveAsync(measured, _requirement.Timeout, end.Token)
            : _allocator.ReserveAsync(job, measured, _requirement.Timeout, end.Token);
        if (reserving.IsCompleted)
        {
            _reservation = await reserving;
            return;
        }

        _meter?.AddWaiting(_allocator, 1);
        try
        {
            _reservation = await reserving;
        }
        catch
        {
            // If there is no memory to suspend this method, the wait continues, and a grant would be lost.
            end.Cancel();
            throw;
        }
        finally
        {
            _meter?.AddWaiting(_allocator, -1);
        }
    }

    private async Task<Refusal?> RunReservedAsync(RequestDelegate endpoint)
    {
        // Called here, because this flow calls the endpoint.
        using MemoryReservation.UseScope use = _reservation!.Use();
        try
        {
            await endpoint(_context);
            return null;
        }
        catch (Exception exception) when (!_context.Response.HasStarted && RefusalCause.Find(exception) is { } cause)
        {
            // The job took more than it had reserved, and there was no more.
            _context.Response.Clear();
            _wasRefused = cause.IsTransient;
            return Refusal.Of(cause, _requirement.Timeout);
        }
        catch (Exception exception) when (!_context.Response.HasStarted && _reservation.RefusalCount > 0
            && exception is not BadHttpRequestException && !IsClientGone
            && !(IsTimedOut && exception is OperationCanceledException))
        {
            // Codecs hide the cause behind an exception of their own clean-up.
            AllocatorLog.FailedAfterRefusal(_logger, EndpointName, exception);
            _context.Response.Clear();
            _wasRefused = true;
            return Refusal.Busy(
                _requirement.Timeout,
                $"Its job was refused memory {_reservation.RefusalCount} times, beyond {_reservation.ReservedBytes:N0} reserved bytes, and "
                    + $"failed: {exception.Message}");
        }
    }

    private Refusal Gone(string stage)
    {
        AllocatorLog.ClientGone(_logger, EndpointName, stage);
        return Refusal.ClientGone;
    }
}
