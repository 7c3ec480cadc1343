using System.Collections.Concurrent;
using Allocator.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Sets a limit for allocators that have none: a part of the container, or else of the machine, stays free. It runs after all other
/// configuration, so that a limit counts however it was set.
/// </summary>
internal sealed class DefaultLimit : IPostConfigureOptions<MemoryAllocatorOptions>
{
    private const int ContainerPercent = 20;
    private const int MachinePercent = 10;

    // Less would not be enough for the stacks and the compiled code of a small service.
    private const int LeastMegabytes = 32;

    private readonly ConcurrentDictionary<string, int> _names = new();
    private readonly HashSet<string> _added;

    // Once, so that the options stay the same while the process runs.
    private readonly Lazy<MemoryLoad> _memory = new(static () =>
    {
        // The environment's mode may be wrong: that is for the allocators that use it to say.
        using MemoryAllocator any = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Standard });
        return any.GetMemoryLoad();
    });

    public DefaultLimit(IEnumerable<AllocatorName> names) => _added = [.. names.Select(static name => name.Value)];

    public void PostConfigure(string? name, MemoryAllocatorOptions options)
    {
        name ??= Options.DefaultName;
        bool isLimited = options.MemoryBudgetMegabytes is not null || options.MinimumFreeMegabytes is not null;
        if (_added.Contains(name) && !isLimited && Compute(_memory.Value) is int megabytes)
        {
            options.MinimumFreeMegabytes = _names[name] = megabytes;
            options.MaximumPoolSizeMegabytes ??= ComputePool(_memory.Value);
        }
    }

    /// <summary>Logs what the limit means, if it was set here.</summary>
    public void Log(ILogger logger, string name)
    {
        if (_names.TryGetValue(name, out int megabytes))
        {
            MemoryLoad memory = _memory.Value;
            AllocatorLog.LimitedByDefault(logger, AllocatorName.Describe(name), megabytes, memory.TotalBytes >> 20, memory.Source);
        }
    }

    /// <summary>
    /// Returns how much the pool may hold, or null for the default size. In a small container the default is less than one photograph
    /// takes, so each one would need new pages. Idle memory is released before the minimum is violated.
    /// </summary>
    public static int? ComputePool(in MemoryLoad memory) =>
        IsContainer(memory) && Compute(memory) is int free ? (int)Math.Clamp(((memory.TotalBytes >> 20) - free) / 2, 0, int.MaxValue) : null;

    private static bool IsContainer(in MemoryLoad memory) =>
        memory.Source is MemoryLoadSource.ControlGroup or MemoryLoadSource.JobObject;

    /// <summary>Returns how much must stay free. Null if the memory is unknown.</summary>
    public static int? Compute(in MemoryLoad memory)
    {
        if (memory.TotalBytes <= 0)
        {
            return null;
        }

        long megabytes = (memory.TotalBytes >> 20) * (IsContainer(memory) ? ContainerPercent : MachinePercent) / 100;
        return (int)Math.Clamp(megabytes, LeastMegabytes, int.MaxValue);
    }
}
