namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// The part of <see cref="MemoryAllocatorOptions"/> that a configuration can set: all but the hooks, which are code. A missing key leaves
/// its option alone. A class of its own, because the binding generator cannot bind delegates.
/// </summary>
internal sealed class ConfiguredOptions
{
    public string? Name { get; set; }

    public int? MaximumPoolSizeMegabytes { get; set; }

    public int? AllocationLimitMegabytes { get; set; }

    public int? MemoryBudgetMegabytes { get; set; }

    public TimeSpan? BudgetTimeout { get; set; }

    public bool? HonorMemoryLimit { get; set; }

    public int? MinimumFreeMegabytes { get; set; }

    public bool? TrimNativeHeap { get; set; }

    public bool? PopulateMemory { get; set; }

    public bool? SetNativeMapThreshold { get; set; }

    public bool? PreferContiguous { get; set; }

    public NativeMemoryKind? NativeMemory { get; set; }

    public HugePages? HugePages { get; set; }

    public TimeSpan? TrimPeriod { get; set; }

    public double? TrimRate { get; set; }

    public bool? KeepBlocks { get; set; }

    public bool? ClearOnReturn { get; set; }

    public AbandonedMemory? Abandoned { get; set; }

    public bool? CollectToFindAbandoned { get; set; }

    public SafetyMode? Safety { get; set; }

    public int? SafetySampleInterval { get; set; }

    public int? OverreadToleranceInBytes { get; set; }

    /// <summary>Sets each option that the configuration has a value for.</summary>
    public void ApplyTo(MemoryAllocatorOptions options)
    {
        options.Name = Name ?? options.Name;
        options.MaximumPoolSizeMegabytes = MaximumPoolSizeMegabytes ?? options.MaximumPoolSizeMegabytes;
        options.AllocationLimitMegabytes = AllocationLimitMegabytes ?? options.AllocationLimitMegabytes;
        options.MemoryBudgetMegabytes = MemoryBudgetMegabytes ?? options.MemoryBudgetMegabytes;
        options.BudgetTimeout = BudgetTimeout ?? options.BudgetTimeout;
        options.HonorMemoryLimit = HonorMemoryLimit ?? options.HonorMemoryLimit;
        options.MinimumFreeMegabytes = MinimumFreeMegabytes ?? options.MinimumFreeMegabytes;
        options.TrimNativeHeap = TrimNativeHeap ?? options.TrimNativeHeap;
        options.PopulateMemory = PopulateMemory ?? options.PopulateMemory;
        options.SetNativeMapThreshold = SetNativeMapThreshold ?? options.SetNativeMapThreshold;
        options.PreferContiguous = PreferContiguous ?? options.PreferContiguous;
        options.NativeMemory = NativeMemory ?? options.NativeMemory;
        options.HugePages = HugePages ?? options.HugePages;
        options.TrimPeriod = TrimPeriod ?? options.TrimPeriod;
        options.TrimRate = TrimRate ?? options.TrimRate;
        options.KeepBlocks = KeepBlocks ?? options.KeepBlocks;
        options.ClearOnReturn = ClearOnReturn ?? options.ClearOnReturn;
        options.Abandoned = Abandoned ?? options.Abandoned;
        options.CollectToFindAbandoned = CollectToFindAbandoned ?? options.CollectToFindAbandoned;
        options.Safety = Safety ?? options.Safety;
        options.SafetySampleInterval = SafetySampleInterval ?? options.SafetySampleInterval;
        options.OverreadToleranceInBytes = OverreadToleranceInBytes ?? options.OverreadToleranceInBytes;
    }
}
