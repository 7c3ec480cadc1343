using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Guarding;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Everything an allocator is made with: the options, resolved, and what tests replace (sizes, memory source, clock, load).
/// </summary>
internal sealed class AllocatorSettings
{
    /// <summary>What code for SIMD reads behind a buffer: FFmpeg's AV_INPUT_BUFFER_PADDING_SIZE, and a register of AVX-512.</summary>
    public const int DefaultOverreadTolerance = 64;

    /// <summary>The largest alignment for which a small request goes to a heap, which may lose as much as that.</summary>
    public const int LargestHeapAlignment = 64 * 1024;

    private const long MostIdleArrayBytes = 64L * 1024 * 1024;

    // What is larger glibc maps at first, and keeps in its arenas once one has been freed.
    private const int LargestLimitedHeapLength = 128 * 1024;

    public AllocatorSettings(MemoryAllocatorOptions options)
    {
        // What the caller changes from here on has no effect.
        options = options.Copy();
        options.Validate();
        Options = options;
        Safety = SafetySampler.ResolveMode(options.Safety);
        OverreadToleranceInBytes = Safety switch
        {
            SafetyMode.Standard => Math.Max(DefaultOverreadTolerance, options.OverreadToleranceInBytes ?? 0),
            SafetyMode.Sampled => options.OverreadToleranceInBytes ?? DefaultOverreadTolerance,
            _ => options.OverreadToleranceInBytes ?? 0,
        };
        Source = NativeMemorySource.Create(options.NativeMemory, options.HugePages, OverreadToleranceInBytes);
        SearchPeriod = options.CollectToFindAbandoned ? options.TrimPeriod : null;
        AllocationLimitInBytes = AllocationLimitOf(options.AllocationLimitMegabytes, Environment.Is64BitProcess);
        MemoryBudgetInBytes = options.MemoryBudgetMegabytes * 1024L * 1024;
        MinimumFreeBytes = (options.MinimumFreeMegabytes ?? 0) * 1024L * 1024;
        Geometry = new PoolGeometry(
            PoolGeometry.DefaultBlockSizeInBytes,
            PoolGeometry.BlocksWithin(
                options.MaximumPoolSizeMegabytes,
                PoolGeometry.DefaultBlockSizeInBytes,
                Environment.Is64BitProcess,
                options.MaximumPoolSizeMegabytes is null ? SystemMemory.Shared.AvailableBytes : null));
    }

    public MemoryAllocatorOptions Options { get; }

    public NativeMemorySource Source { get; init; }

    /// <summary>Gets where small memory comes from that is aligned like no array: a heap, which has many in one mapping.</summary>
    /// <remarks>Aligned here: <c>aligned_alloc</c> takes the alignment twice, and so maps what is aligned to 64 KiB.</remarks>
    public NativeMemorySource SmallSource
    {
        get => field ??= Source is HeapMemorySource { AlignsHere: true } ? Source : HeapMemorySource.OfHGlobal(OverreadToleranceInBytes);
        init;
    }

    /// <summary>
    /// Gets the largest request that it serves. Where anything is limited larger ones are mapped: each of malloc's arenas would keep
    /// megabytes of them, which no count shows and <c>malloc_trim</c> leaves there.
    /// </summary>
    public int LargestHeapLengthInBytes => field != 0 ? field : field = IsLimited ? LargestLimitedHeapLength : int.MaxValue;

    public SafetyMode Safety { get; }

    /// <summary>Gets how many bytes behind every unmanaged buffer are readable.</summary>
    public int OverreadToleranceInBytes { get; }

    /// <summary>Gets where watched memory comes from. Pages of the common size: a huge one has no guard page within it.</summary>
    public VirtualMemorySource GuardedMappingSource
    {
        get => field ??= VirtualMemorySource.Create(HugePages.Off);
        init;
    }

    /// <summary>Gets the pool's measures: no more blocks than fit the budget.</summary>
    public PoolGeometry Geometry
    {
        get
        {
            long blocks = (MemoryBudgetInBytes ?? long.MaxValue) / field.BlockSizeInBytes;
            return field with { MaximumBlocks = (int)Math.Min(field.MaximumBlocks, blocks) };
        }

        init;
    }

    public long AllocationLimitInBytes { get; init; }

    /// <summary>Gets how much may be held at once; null for no budget.</summary>
    public long? MemoryBudgetInBytes { get; init; }

    /// <summary>Gets how much of the container or machine has to stay free for requests to be admitted; 0 for none.</summary>
    public long MinimumFreeBytes { get; init; }

    /// <summary>Gets what the process may still take of the memory of its container.</summary>
    public ProcessHeadroom Headroom { get; init; } = ProcessHeadroom.Shared;

    /// <summary>Gets whether what certainly does not fit the container is refused.</summary>
    public bool HonorsMemoryLimit => Options.HonorMemoryLimit && Headroom.Limits.HasHardLimit;

    /// <summary>Gets whether anything limits what the allocator may take.</summary>
    public bool IsLimited => MemoryBudgetInBytes is not null || MinimumFreeBytes > 0 || HonorsMemoryLimit;

    /// <summary>Gets whether a high load is looked for every second, rather than at the end of periods alone.</summary>
    public bool WatchesLoad
    {
        get => field && IsLimited;
        init;
    }
    = true;

    /// <summary>Gets whether the free memory of malloc is given back where memory is short.</summary>
    public bool TrimsNativeHeap => Options.TrimNativeHeap ?? IsLimited;

    /// <summary>Gets whether malloc's map threshold is to be fixed; null where the allocator has no reason to decide that.</summary>
    public bool? SetsNativeMapThreshold =>
        Options.SetNativeMapThreshold ?? ((MemoryBudgetInBytes is not null || MinimumFreeBytes > 0) && HonorsMemoryLimit ? true : null);

    /// <summary>Gets what gives malloc's free memory back; null where that is not wanted.</summary>
    public NativeHeapTrimmer? HeapTrimmer
    {
        get => TrimsNativeHeap ? field : null;
        init;
    }
    = NativeHeapTrimmer.Shared;

    /// <summary>
    /// Gets how much counted arrays take while they are idle: an eighth of the budget or of the container, and without a budget at most
    /// 64 MiB.
    /// </summary>
    public long MaximumIdleArrayBytes =>
        MemoryBudgetInBytes / 8 ?? (IsLimited ? Math.Min(MostIdleArrayBytes, Headroom.Read().LimitBytes / 8) : MostIdleArrayBytes);

    /// <summary>Gets the largest request for an array: 1 MiB, what <c>ArrayPool.Shared</c> of older runtimes keeps.</summary>
    public int ArrayThresholdInBytes { get; init; } = 1024 * 1024;

    /// <summary>Gets the largest mapping of a group beyond the pool: 32 MiB (docs/design/measured.md says why).</summary>
    public int SegmentSizeInBytes { get; init; } = 32 * 1024 * 1024;

    public Clock Clock { get; init; } = SystemClock.Instance;

    public SystemMemory Pressure { get; init; } = SystemMemory.Shared;

    /// <summary>Gets the timer to trim by; the process-wide one by default.</summary>
    public TrimTimer Scheduler { get; init; } = TrimTimer.Shared;

    /// <summary>Gets how often a collection may be forced to find abandoned memory; null for never.</summary>
    public TimeSpan? SearchPeriod { get; }

    /// <summary>Gets whether <c>Dispose</c> is ignored, because the allocator is shared by the process.</summary>
    public bool IsShared { get; init; }

    /// <summary>Returns the largest allocation, by the option, and no more than the process can address in one piece.</summary>
    public static long AllocationLimitOf(int? megabytes, bool is64Bit) => Math.Min(
        (megabytes ?? (is64Bit ? 4096 : 1024)) * 1024L * 1024, NativeMemorySource.LargestLength(is64Bit ? sizeof(long) : sizeof(int)));

    /// <summary>Makes what the allocator's memory is counted by, with a limit or without.</summary>
    public MemoryBudget CreateBudget(AllocatorCounters counters)
    {
        bool isLimited = MemoryBudgetInBytes is not null || MinimumFreeBytes > 0;
        MemoryBudget budget = new(MemoryBudgetInBytes ?? long.MaxValue, Clock, Options.BudgetTimeout)
        {
            Headroom = Options.HonorMemoryLimit || MinimumFreeBytes > 0 ? Headroom : null,
            MinimumFreeBytes = MinimumFreeBytes,
            HonorsLimit = Options.HonorMemoryLimit,
            BeforeRefusal = isLimited ? () => MakeRoom(counters) : null,
        };
        if (isLimited)
        {
            Headroom.Register(budget);
        }

        return budget;
    }

    /// <summary>Throws where the container could not hold so much if nothing else were in it.</summary>
    public void ThrowIfLargerThanContainer(long bytes)
    {
        if (HonorsMemoryLimit && Headroom.Read() is Headroom left && bytes > left.LimitBytes)
        {
            throw MemoryLimitExceededException.ForContainer(bytes, left.LimitBytes, left.CertainBytes);
        }
    }

    private void MakeRoom(AllocatorCounters counters)
    {
        Scheduler.ReleaseAll();
        Scheduler.Collections.RunLastResort(Options.CollectToFindAbandoned, HeapTrimmer, counters);
    }
}
