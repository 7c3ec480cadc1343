using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace Allocator.AspNetCore.Configuration;

/// <summary>Makes all allocators when the host starts, so that what is wrong with one is found then.</summary>
internal sealed class AllocatorStartup : IHostedService
{
    private readonly IServiceProvider _services;
    private readonly IEnumerable<AllocatorName> _names;
    private readonly ConfigurationWatch _watch;

    public AllocatorStartup(IServiceProvider services, IEnumerable<AllocatorName> names, ConfigurationWatch watch)
    {
        _services = services;
        _names = names;
        _watch = watch;
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (AllocatorName name in _names)
        {
            AllocatorName.Find(_services, name.Value);
        }

        _watch.Start();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
