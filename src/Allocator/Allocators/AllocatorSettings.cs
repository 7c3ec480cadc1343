using System;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>Everything an allocator is made with: the options, resolved, and what tests replace (sizes, memory source, clock, load).</summary>
internal sealed class AllocatorSettings
{
    public AllocatorSettings(MemoryAllocatorOptions options)
    {
        options.Validate();
        Options = options;
        Safety = SafetyModes.Resolve(options.Safety);
        Source = NativeMemorySources.Create(options.NativeMemory, options.HugePages);
        AllocationLimitInBytes = PoolSizing.AllocationLimitBytes(options.AllocationLimitMegabytes, Environment.Is64BitProcess);
        MemoryBudgetInBytes = options.MemoryBudgetMegabytes * 1024L * 1024;
        Geometry = new PoolGeometry(
            PoolGeometry.DefaultBlockSizeInBytes,
            PoolSizing.MaximumBlocks(
                options.MaximumPoolSizeMegabytes,
                PoolGeometry.DefaultBlockSizeInBytes,
                Environment.Is64BitProcess,
                options.MaximumPoolSizeMegabytes is null ? AvailableMemory.TryRead() : null));
    }

    public MemoryAllocatorOptions Options { get; }

    public NativeMemorySource Source { get; init; }

    public SafetyMode Safety { get; }

    /// <summary>Gets where watched memory comes from. Pages of the common size: a huge one has no fence within it.</summary>
    public VirtualMemorySource FencedSource
    {
        get => field ??= VirtualMemorySource.Create(HugePages.Off);
        init;
    }

    /// <summary>Gets the pool's measures: no more blocks than fit the budget.</summary>
    public PoolGeometry Geometry
    {
        get => field with { MaximumBlocks = (int)Math.Min(field.MaximumBlocks, (MemoryBudgetInBytes ?? long.MaxValue) / field.BlockSizeInBytes) };
        init;
    }

    public long AllocationLimitInBytes { get; init; }

    /// <summary>Gets how much may be held at once; null for no budget.</summary>
    public long? MemoryBudgetInBytes { get; init; }

    /// <summary>Gets the largest request that an array serves: 1 MiB, the largest array that <c>ArrayPool.Shared</c> of older runtimes keeps.</summary>
    public int ArrayThresholdInBytes { get; init; } = 1024 * 1024;

    /// <summary>Gets the largest mapping that a group above the pool is made of: 32 MiB, as measured by the source of this design.</summary>
    public int SegmentSizeInBytes { get; init; } = 32 * 1024 * 1024;

    public Clock Clock { get; init; } = SystemClock.Instance;

    public PressureSource Pressure { get; init; } = PressureSource.Shared;

    /// <summary>Gets the scheduler to trim by; the process-wide one by default.</summary>
    public TrimScheduler Scheduler { get; init; } = TrimScheduler.Shared;

    /// <summary>Gets whether <c>Dispose</c> is ignored, because the allocator belongs to nobody.</summary>
    public bool IsShared { get; init; }
}
