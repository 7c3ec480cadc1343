using System.Security.Cryptography;
using Microsoft.AspNetCore.Mvc;

namespace Allocator.AspNetCore.Tests;

/// <summary>Says what was reserved for its request: by a route of its own, and by one of the application.</summary>
public class ReservationController : Controller
{
    [HttpGet("/attributed")]
    public string Attributed() => $"{HttpContext.GetMemoryReservation().ReservedBytes}";

    [HttpPost("/form")]
    public string Hash(IFormFile file)
    {
        using Stream stream = file.OpenReadStream();
        return Convert.ToHexString(SHA256.HashData(stream));
    }

    [HttpPost("/limited")]
    [RequestFormLimits(MultipartBodyLengthLimit = 1000)]
    public ActionResult<string> Limited(IFormFile? file) => ModelState.IsValid && file is not null ? Hash(file) : BadRequest();

    public string Conventional() => $"{HttpContext.GetMemoryReservation().ReservedBytes}";
}
