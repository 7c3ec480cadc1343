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
    private readonly IEnumerable<AllocatorRegistration> _registrations;
    private readonly ConfigurationWatch _watch;

    public AllocatorStartup(IServiceProvider services, IEnumerable<AllocatorRegistration> registrations, ConfigurationWatch watch)
    {
        _services = services;
        _registrations = registrations;
        _watch = watch;
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (AllocatorRegistration registration in _registrations)
        {
            AllocatorName.Find(_services, registration.Name);
        }

        _watch.Start();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
