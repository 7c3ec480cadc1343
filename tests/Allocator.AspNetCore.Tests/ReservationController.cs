using Microsoft.AspNetCore.Mvc;

namespace Allocator.AspNetCore.Tests;

/// <summary>Says what was reserved for its request: by a route of its own, and by one of the application.</summary>
public class ReservationController : Controller
{
    [HttpGet("/attributed")]
    public string Attributed() => $"{HttpContext.GetMemoryReservation().ReservedBytes}";

    public string Conventional() => $"{HttpContext.GetMemoryReservation().ReservedBytes}";
}
