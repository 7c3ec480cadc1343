using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Allocator.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Configuration;

/// <summary>Makes the allocators of the application, and remembers their options: the configuration may have changed since.</summary>
internal sealed class RunningAllocators
{
    private readonly ConcurrentDictionary<string, Running> _all = new();
    private readonly IOptionsMonitor<MemoryAllocatorOptions> _options;
    private readonly DefaultLimit _defaultLimit;
    private readonly ILogger _logger;

    public RunningAllocators(
        IOptionsMonitor<MemoryAllocatorOptions> options, DefaultLimit defaultLimit, ILogger<RunningAllocators> logger)
    {
        _defaultLimit = defaultLimit;
        _options = options;
        _logger = logger;
    }

    /// <summary>Makes the allocator of a name. The caller, which is the container, disposes it.</summary>
    [return: OwnedBuffer]
    public MemoryAllocator Create(string name)
    {
        MemoryAllocatorOptions options = _options.Get(name);
        using MapThresholdListener threshold = new();
        MemoryAllocator allocator = MemoryAllocator.Create(options);
        if (MapThresholdListener.TakeBytes() is var bytes and not 0)
        {
            AllocatorLog.MapThresholdSet(_logger, bytes);
        }

        _all[name] = new Running(allocator, OptionKeys.Read(options), options.MemoryBudgetMegabytes, options.MinimumFreeMegabytes);
        _defaultLimit.Log(_logger, name);
        WarnOfTooMuch(name, options, allocator.GetMemoryLoad());
        return allocator;
    }

    /// <summary>Returns the options that an allocator was made with.</summary>
    public bool TryGetOptions(string name, [NotNullWhen(true)] out Dictionary<string, string>? options)
    {
        bool isFound = _all.TryGetValue(name, out Running? running);
        options = running?.Options;
        return isFound;
    }

    /// <summary>Returns the budget of an allocator in bytes. Null if it has none, or was made elsewhere.</summary>
    public long? BudgetBytesOf(MemoryAllocator allocator) => Find(allocator)?.BudgetMegabytes * 1024L * 1024;

    /// <summary>Returns how much must stay free for an allocator, in bytes. Null if nothing must, or if it was made elsewhere.</summary>
    public long? MinimumFreeBytesOf(MemoryAllocator allocator) => Find(allocator)?.MinimumFreeMegabytes * 1024L * 1024;

    /// <summary>
    /// Returns how many bytes requests can have at once: the budget, or the usable part of the memory. Null if unknown.
    /// </summary>
    public long? LargestTotalOf(MemoryAllocator allocator)
    {
        long? budget = BudgetBytesOf(allocator);
        return MinimumFreeBytesOf(allocator) is long free and > 0 && allocator.GetMemoryLoad().TotalBytes is long total and > 0
            ? Math.Min(budget ?? long.MaxValue, Math.Max(0, total - free))
            : budget;
    }

    /// <summary>Returns the allocators that were made here, with their names; the name of the one without a name is empty.</summary>
    public IEnumerable<(string Name, MemoryAllocator Allocator)> All() =>
        _all.OrderBy(static pair => pair.Key, StringComparer.Ordinal).Select(static pair => (pair.Key, pair.Value.Allocator));

    /// <summary>Returns whether an allocator was made here, with the options of its name.</summary>
    public bool Has(MemoryAllocator allocator) => Find(allocator) is not null;

    /// <summary>Returns whether reservations of an allocator can be refused. Null if it was made elsewhere.</summary>
    public bool? IsLimited(MemoryAllocator allocator) =>
        Find(allocator) is { } running ? running.BudgetMegabytes is not null || running.MinimumFreeMegabytes > 0 : null;

    private Running? Find(MemoryAllocator allocator)
    {
        foreach (Running running in _all.Values)
        {
            if (ReferenceEquals(running.Allocator, allocator))
            {
                return running;
            }
        }

        return null;
    }

    // Not refused: the limit of a container may be raised while it runs.
    private void WarnOfTooMuch(string name, MemoryAllocatorOptions options, MemoryLoad load)
    {
        long totalMegabytes = load.TotalBytes >> 20;
        if (load.TotalBytes > 0 && options.MemoryBudgetMegabytes > totalMegabytes)
        {
            AllocatorLog.BudgetAboveMemory(
                _logger, AllocatorName.Describe(name), options.MemoryBudgetMegabytes.Value, totalMegabytes, load.Source);
        }

        if (load.TotalBytes > 0 && options.MinimumFreeMegabytes >= totalMegabytes)
        {
            AllocatorLog.MinimumFreeAboveMemory(
                _logger, AllocatorName.Describe(name), options.MinimumFreeMegabytes.Value, totalMegabytes, load.Source);
        }
    }

    private sealed record Running(
        MemoryAllocator Allocator, Dictionary<string, string> Options, int? BudgetMegabytes, int? MinimumFreeMegabytes);
}
