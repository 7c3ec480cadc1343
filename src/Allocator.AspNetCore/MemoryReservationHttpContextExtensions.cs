using Allocator;
using Allocator.AspNetCore;

namespace Microsoft.AspNetCore.Http;

/// <summary>Offers endpoints the reservation of their request.</summary>
public static class MemoryReservationHttpContextExtensions
{
    /// <summary>Returns the reservation of this request: an allocator, which is disposed when the endpoint has run.</summary>
    /// <param name="context">The request.</param>
    /// <exception cref="InvalidOperationException">The endpoint has no <c>RequireMemory</c>, or has ended.</exception>
    public static MemoryReservation GetMemoryReservation(this HttpContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return context.Features.Get<IMemoryReservationFeature>()?.Reservation ?? throw new InvalidOperationException(
            $"{context.GetEndpoint()?.DisplayName ?? "This request"} has no memory reserved. Add RequireMemory(…) to its endpoint.");
    }
}
