namespace Allocator.AspNetCore;

/// <summary>
/// The received body and the reservation of a request, for endpoints with <c>RequireMemory</c> and their estimates:
/// <c>context.Features.Get&lt;IMemoryReservationFeature&gt;()</c>, or <c>context.GetMemoryReservation()</c>.
/// </summary>
public interface IMemoryReservationFeature
{
    /// <summary>
    /// Gets the reservation, an allocator for this request. It is disposed when the endpoint has run. Dispose it earlier to free memory for
    /// others while a slow client reads the response.
    /// </summary>
    /// <exception cref="InvalidOperationException">Nothing is reserved yet, because the estimate is still running.</exception>
    MemoryReservation Reservation { get; }

    /// <summary>
    /// Opens a view of the received body. It can seek, also in a form, so codecs read headers and pictures from it without a copy. Empty if
    /// the request has no body.
    /// </summary>
    /// <returns>
    /// A read-only stream with its own position, at its beginning. Disposing it closes only this view. It ends with the request.
    /// </returns>
    /// <remarks>
    /// Any number of views may be open, on several threads too; each is for one thread at a time. If another middleware has buffered the
    /// body, do not read a view while <c>Request.Body</c> is being read.
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The request has ended.</exception>
    Stream OpenBody();
}
