using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Configuration;

/// <summary>Makes all allocators when the host starts, so that errors in their options are found then.</summary>
internal sealed class AllocatorStartup : IHostedService
{
    private readonly IServiceProvider _services;
    private readonly IEnumerable<AllocatorName> _names;
    private readonly RunningAllocators _running;
    private readonly ConfigurationWatch _watch;
    private readonly ILogger _logger;

    public AllocatorStartup(
        IServiceProvider services,
        IEnumerable<AllocatorName> names,
        RunningAllocators running,
        ConfigurationWatch watch,
        ILogger<AllocatorStartup> logger)
    {
        _running = running;
        _logger = logger;
        _services = services;
        _names = names;
        _watch = watch;
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (AllocatorName name in _names)
        {
            if (AllocatorName.Find(_services, name.Value) is { } allocator && !_running.Has(allocator))
            {
                AllocatorLog.Replaced(_logger, AllocatorName.Describe(name.Value), AllocatorName.DescribeCall(name.Value));
            }
        }

        _watch.Start();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
