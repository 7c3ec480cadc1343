using System.Globalization;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Allocator.AspNetCore.Health;

/// <summary>Compares what memory an allocator and its container have left with thresholds.</summary>
internal sealed class MemoryAllocatorHealthCheck : IHealthCheck
{
    private readonly MemoryAllocator _allocator;
    private readonly RunningAllocators? _running;
    private readonly MemoryAllocatorHealthOptions _options;

    public MemoryAllocatorHealthCheck(MemoryAllocator allocator, RunningAllocators? running, MemoryAllocatorHealthOptions options)
    {
        _allocator = allocator;
        _running = running;
        _options = options;
    }

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        MemoryLoad load = _allocator.GetMemoryLoad();
        MemoryAllocatorStatistics statistics = _allocator.GetStatistics();
        long? budget = _running?.BudgetBytesOf(_allocator);
        Dictionary<string, object> data = new()
        {
            ["memoryUsedBytes"] = load.UsedBytes,
            ["memoryTotalBytes"] = load.TotalBytes,
            ["memorySource"] = load.Source.ToString(),
            ["rentedBytes"] = statistics.RentedBytes,
            ["retainedBytes"] = statistics.RetainedBytes,
            ["committedBytes"] = statistics.CommittedBytes,
            ["outstandingAllocations"] = statistics.OutstandingAllocations,
            ["abandonedAllocations"] = statistics.Abandoned,
            ["budgetUsedBytes"] = statistics.BudgetUsedBytes,
            ["budgetWaits"] = statistics.BudgetWaits,
        };
        if (budget is not null)
        {
            data.Add("budgetBytes", budget.Value);
        }

        string? complaint = Complaint(load, statistics.BudgetUsedBytes, budget);
        return Task.FromResult(complaint is null
            ? HealthCheckResult.Healthy("Memory is available.", data)
            : HealthCheckResult.Degraded(complaint, exception: null, data));
    }

    private string? Complaint(MemoryLoad load, long budgetUsed, long? budget)
    {
        bool isHigh = _options.DegradedMemoryLoad is { } threshold
            ? load.TotalBytes > 0 && load.UsedBytes >= threshold * load.TotalBytes
            : load.IsHigh;
        if (isHigh)
        {
            return string.Create(
                CultureInfo.InvariantCulture, $"{load.UsedBytes:N0} of {load.TotalBytes:N0} bytes of memory are used ({load.Source}).");
        }

        if (load.TotalBytes > 0 && load.TotalBytes - load.UsedBytes <= _running?.MinimumFreeBytesOf(_allocator))
        {
            return string.Create(
                CultureInfo.InvariantCulture,
                $"{load.TotalBytes - load.UsedBytes:N0} bytes of memory are free ({load.Source}), not more than MinimumFreeMegabytes: no "
                + $"request is let in.");
        }

        return budget > 0 && budgetUsed >= _options.DegradedBudgetUse * budget
            ? string.Create(CultureInfo.InvariantCulture, $"{budgetUsed:N0} of {budget:N0} bytes of the memory budget are taken.")
            : null;
    }
}
