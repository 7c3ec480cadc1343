using System.Globalization;
using Allocator.AspNetCore.Admission;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Allocator.AspNetCore.Health;

/// <summary>Compares the memory left to an allocator and its container with thresholds.</summary>
internal sealed class MemoryAllocatorHealthCheck : IHealthCheck
{
    private readonly MemoryAllocator _allocator;
    private readonly RunningAllocators? _running;
    private readonly AdmissionMeter? _meter;
    private readonly MemoryAllocatorHealthOptions _options;

    public MemoryAllocatorHealthCheck(
        MemoryAllocator allocator, RunningAllocators? running, AdmissionMeter? meter, MemoryAllocatorHealthOptions options)
    {
        _meter = meter;
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

        long largest = _meter?.Of(_allocator).LargestBytes ?? 0;
        if (largest > 0)
        {
            data.Add("largestReservationBytes", largest);
        }

        string? complaint = Complaint(load, statistics.BudgetUsedBytes, budget);
        return Task.FromResult(complaint is null
            ? HealthCheckResult.Healthy(Advice(largest) ?? "Memory is available.", data)
            : HealthCheckResult.Degraded(complaint, exception: null, data));
    }

    // Reported, but still healthy, because one large picture must not make a service look short of memory until it is restarted.
    private string? Advice(long largest) => largest > 0 && largest > _running?.LargestTotalOf(_allocator) / 2
        ? string.Create(
            CultureInfo.InvariantCulture,
            $"Memory is available. The largest request needed {largest:N0} bytes: such requests run one at a time.")
        : null;

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
                $"{load.TotalBytes - load.UsedBytes:N0} bytes of memory are free ({load.Source}), not more than MinimumFreeMegabytes: "
                + $"requests with an estimate wait, those without one may use it.");
        }

        return budget > 0 && budgetUsed >= _options.DegradedBudgetUse * budget
            ? string.Create(CultureInfo.InvariantCulture, $"{budgetUsed:N0} of {budget:N0} bytes of the memory budget are taken.")
            : null;
    }
}
