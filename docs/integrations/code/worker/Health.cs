using Allocator;
using Allocator.Diagnostics;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Worker;

/// <summary>Reports Degraded if memory is short.</summary>
internal sealed class MemoryHealthCheck(MemoryAllocator allocator) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        MemoryLoad load = allocator.GetMemoryLoad();
        string description = $"{load.UsedBytes >> 20} of {load.TotalBytes >> 20} MiB ({load.Source}) are used";
        return Task.FromResult(load.IsHigh ? HealthCheckResult.Degraded(description) : HealthCheckResult.Healthy(description));
    }
}

/// <summary>Writes the state into the file that the configuration names, <c>HealthFile</c>.</summary>
internal sealed class HealthFile(IConfiguration configuration) : IHealthCheckPublisher
{
    public async Task PublishAsync(HealthReport report, CancellationToken cancellationToken)
    {
        if (configuration["HealthFile"] is { } path)
        {
            string entries = string.Concat(report.Entries.Select(static entry => $" {entry.Key}: {entry.Value.Description}."));
            await File.WriteAllTextAsync(path, $"{report.Status}.{entries}\n", cancellationToken);
        }
    }
}
