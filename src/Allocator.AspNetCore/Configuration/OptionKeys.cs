using System.Globalization;

namespace Allocator.AspNetCore.Configuration;

/// <summary>The keys that a configuration may have, each with the reader of its option: for messages and comparisons.</summary>
internal static class OptionKeys
{
    private static readonly Dictionary<string, Func<MemoryAllocatorOptions, object?>> s_readers = new(StringComparer.OrdinalIgnoreCase)
    {
        [nameof(MemoryAllocatorOptions.Name)] = static options => options.Name,
        [nameof(MemoryAllocatorOptions.MaximumPoolSizeMegabytes)] = static options => options.MaximumPoolSizeMegabytes,
        [nameof(MemoryAllocatorOptions.AllocationLimitMegabytes)] = static options => options.AllocationLimitMegabytes,
        [nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)] = static options => options.MemoryBudgetMegabytes,
        [nameof(MemoryAllocatorOptions.BudgetTimeout)] = static options => options.BudgetTimeout,
        [nameof(MemoryAllocatorOptions.HonorMemoryLimit)] = static options => options.HonorMemoryLimit,
        [nameof(MemoryAllocatorOptions.MinimumFreeMegabytes)] = static options => options.MinimumFreeMegabytes,
        [nameof(MemoryAllocatorOptions.TrimNativeHeap)] = static options => options.TrimNativeHeap,
        [nameof(MemoryAllocatorOptions.PopulateMemory)] = static options => options.PopulateMemory,
        [nameof(MemoryAllocatorOptions.SetNativeMapThreshold)] = static options => options.SetNativeMapThreshold,
        [nameof(MemoryAllocatorOptions.PreferContiguous)] = static options => options.PreferContiguous,
        [nameof(MemoryAllocatorOptions.NativeMemory)] = static options => options.NativeMemory,
        [nameof(MemoryAllocatorOptions.HugePages)] = static options => options.HugePages,
        [nameof(MemoryAllocatorOptions.TrimPeriod)] = static options => options.TrimPeriod,
        [nameof(MemoryAllocatorOptions.TrimRate)] = static options => options.TrimRate,
        [nameof(MemoryAllocatorOptions.KeepBlocks)] = static options => options.KeepBlocks,
        [nameof(MemoryAllocatorOptions.ClearOnReturn)] = static options => options.ClearOnReturn,
        [nameof(MemoryAllocatorOptions.Abandoned)] = static options => options.Abandoned,
        [nameof(MemoryAllocatorOptions.CollectToFindAbandoned)] = static options => options.CollectToFindAbandoned,
        [nameof(MemoryAllocatorOptions.Safety)] = static options => options.Safety,
        [nameof(MemoryAllocatorOptions.SafetySampleInterval)] = static options => options.SafetySampleInterval,
        [nameof(MemoryAllocatorOptions.OverreadToleranceInBytes)] = static options => options.OverreadToleranceInBytes,
    };

    /// <summary>Gets all keys.</summary>
    public static IReadOnlyCollection<string> All => s_readers.Keys;

    /// <summary>Returns whether there is an option of this name. Case does not matter, as everywhere in configurations.</summary>
    public static bool IsKnown(string key) => s_readers.ContainsKey(key);

    /// <summary>Reads each option as text, to be compared and logged.</summary>
    public static Dictionary<string, string> Read(MemoryAllocatorOptions options)
    {
        Dictionary<string, string> values = [];
        foreach ((string key, Func<MemoryAllocatorOptions, object?> read) in s_readers)
        {
            values.Add(key, Convert.ToString(read(options), CultureInfo.InvariantCulture) is { Length: > 0 } text ? text : "not set");
        }

        return values;
    }

    /// <summary>Describes the differences of two readings, as "MemoryBudgetMegabytes: 200 → 300"; empty if there are none.</summary>
    public static string Differences(Dictionary<string, string> before, Dictionary<string, string> after)
    {
        List<string> changes = [];
        foreach ((string key, string value) in before)
        {
            if (after[key] != value)
            {
                changes.Add($"{key}: {value} → {after[key]}");
            }
        }

        return string.Join(", ", changes);
    }
}
