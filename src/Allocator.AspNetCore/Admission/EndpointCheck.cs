using Allocator.AspNetCore.Page;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Checks all endpoints before the server listens. The start fails if one requires memory of an allocator that does not exist or has no
/// limit, or if another endpoint runs in its place. Without this check, the error would show with the first request, or never.
/// </summary>
internal sealed class EndpointCheck : IStartupFilter
{
    public Action<IApplicationBuilder> Configure(Action<IApplicationBuilder> next) => app =>
    {
        // The endpoints are known when the pipeline has been built.
        next(app);
        if (app.ApplicationServices.GetService<EndpointDataSource>() is { } endpoints)
        {
            foreach (Endpoint endpoint in endpoints.Endpoints)
            {
                if (endpoint.Metadata.GetMetadata<MemoryPage>() is not null)
                {
                    MemoryPage.ThrowIfOpen(app.ApplicationServices, endpoint);
                }

                if (endpoint.Metadata.GetMetadata<MemoryAdmission>() is { } admission)
                {
                    MemoryAdmission.ThrowIfNeverRun(endpoint.DisplayName, endpoint.Metadata);
                    admission.FindAllocator(app.ApplicationServices);
                }
            }
        }
    };
}
