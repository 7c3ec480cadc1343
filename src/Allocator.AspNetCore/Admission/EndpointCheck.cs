using System;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Looks at all endpoints before the server listens: one that requires memory of an allocator that is not there, or has no limit, ends the
/// start. Otherwise it would be found by the first request.
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
                endpoint.Metadata.GetMetadata<MemoryAdmission>()?.FindAllocator(app.ApplicationServices);
            }
        }
    };
}
