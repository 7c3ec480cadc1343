namespace Allocator.AspNetCore;

/// <summary>
/// What a request has reserved, for endpoints with <c>RequireMemory</c>: <c>context.Features.Get&lt;IMemoryReservationFeature&gt;()</c>,
/// or <c>context.GetMemoryReservation()</c>.
/// </summary>
public interface IMemoryReservationFeature
{
    /// <summary>
    /// Gets the reservation, an allocator for this request. It is disposed when the endpoint has run, and may be disposed before: memory
    /// that is no longer needed then serves others while a slow client takes the response.
    /// </summary>
    MemoryReservation Reservation { get; }
}
