using Allocator;
using Allocator.AspNetCore.Configuration;
using Allocator.AspNetCore.Page;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Microsoft.AspNetCore.Builder;

/// <summary>Maps the page that shows the memory of the application.</summary>
public static class MemoryPageExtensions
{
    /// <summary>
    /// Maps a page that draws the last ten minutes of all allocators of the application: outstanding, idle and reserved memory, the
    /// container's use, and the requests that wait, were admitted, or were refused.
    /// </summary>
    /// <param name="endpoints">The endpoints to add the page to.</param>
    /// <param name="pattern">The path of the page. Its style, its script and its data are below it.</param>
    /// <returns>One builder for all of these: <c>RequireAuthorization</c> on it protects them together.</returns>
    /// <remarks>
    /// Outside of development the application does not start unless the page requires authorization (<c>RequireAuthorization</c> or a
    /// fallback policy) or is opened to everyone with <c>AllowAnonymous</c>. Stacks of abandoned memory are shown only if it requires
    /// authorization. The page loads nothing from elsewhere. Figures are read once a second from the first view on; before that, nothing
    /// runs.
    /// </remarks>
    /// <exception cref="InvalidOperationException"><see cref="MemoryAllocator"/> was not added with <c>AddMemoryAllocator</c>.</exception>
    public static IEndpointConventionBuilder MapMemoryPage(this IEndpointRouteBuilder endpoints, string pattern = "/memory")
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(pattern);
        if (endpoints.ServiceProvider.GetService<RunningAllocators>() is null)
        {
            throw new InvalidOperationException(
                "MapMemoryPage shows the allocators of AddMemoryAllocator. Call that on the services first.");
        }

        RouteGroupBuilder page = endpoints.MapGroup(pattern);
        page.MapGet("", (RequestDelegate)MemoryPage.ServePageAsync).WithDisplayName("the memory page");
        page.MapGet("/memory.css", (RequestDelegate)MemoryPage.ServeStyleAsync).WithDisplayName("the memory page's style");
        page.MapGet("/memory.js", (RequestDelegate)MemoryPage.ServeScriptAsync).WithDisplayName("the memory page's script");
        page.MapGet("/samples", (RequestDelegate)MemoryPage.ServeSamplesAsync).WithDisplayName("the memory page's data");
        return page.WithMetadata(new MemoryPage()).ExcludeFromDescription();
    }
}
