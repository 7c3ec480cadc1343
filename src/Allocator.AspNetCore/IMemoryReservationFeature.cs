namespace Allocator.AspNetCore;

/// <summary>
/// The received body and the reservation of a request, for endpoints with <c>RequireMemory</c> and their estimates:
/// <c>context.Features.Get&lt;IMemoryReservationFeature&gt;()</c>, or <c>context.GetMemoryReservation()</c>.
/// </summary>
public interface IMemoryReservationFeature
{
    /// <summary>
    /// Gets the reservation, an allocator for this request. It is disposed when the endpoint has run, and may be disposed before: memory
    /// that is no longer needed then serves others while a slow client takes the response.
    /// </summary>
    /// <exception cref="InvalidOperationException">Nothing is reserved yet: the estimate runs before.</exception>
    MemoryReservation Reservation { get; }

    /// <summary>
    /// Opens a view of the received body. It can seek, which <c>Request.Body</c> cannot, so codecs read headers and pictures from it
    /// without a copy. Empty if the request has no body.
    /// </summary>
    /// <returns>
    /// A read-only stream at its beginning, with a position of its own. Disposing it closes the view only. It ends with the request.
    /// </returns>
    /// <remarks>
    /// Any number may be open, also at once on several threads; each is for one thread at a time. A body that another middleware has
    /// buffered has one position: no view of it may be read while <c>Request.Body</c> is being read.
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The request has ended.</exception>
    Stream OpenBody();
}
