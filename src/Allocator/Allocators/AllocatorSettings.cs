using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Everything that an allocator is created with: the resolved options, and the parts that tests replace (sizes, memory source, clock,
/// load).
/// </summary>
internal sealed class AllocatorSettings
{
    /// <summary>How far SIMD code reads past a buffer: FFmpeg's AV_INPUT_BUFFER_PADDING_SIZE, and a register of AVX-512.</summary>
    public const int DefaultOverreadTolerance = 64;

    /// <summary>The largest alignment for which a small request goes to a heap. The heap may waste as much as that.</summary>
    public const int LargestHeapAlignment = 64 * 1024;

    private const long MostIdleArrayBytes = 64L * 1024 * 1024;

    // glibc maps larger allocations at first. After one has been freed, it keeps them in its arenas.
    private const int LargestLimitedHeapLength = 128 * 1024;

    public AllocatorSettings(MemoryAllocatorOptions options)
    {
        // Later changes by the caller have no effect.
        options = options.Copy();
        options.Validate();
        Options = options;
        Safety = options.Safety ?? ProcessSwitch.Read("Allocator.Safety", "ALLOCATOR_SAFETY", SafetyMode.Standard);
        OverreadToleranceInBytes = Safety switch
        {
            SafetyMode.Standard => Math.Max(DefaultOverreadTolerance, options.OverreadToleranceInBytes ?? 0),
            SafetyMode.Sampled => options.OverreadToleranceInBytes ?? DefaultOverreadTolerance,
            _ => options.OverreadToleranceInBytes ?? 0,
        };
        Source = NativeMemorySource.Create(options.NativeMemory, options.HugePages, OverreadToleranceInBytes);
        SearchPeriod = options.CollectToFindAbandoned != false ? options.TrimPeriod : null;
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

    /// <summary>Gets the source of small memory with an alignment that no array has: a heap, with many allocations in a mapping.</summary>
    /// <remarks>
    /// The library aligns by itself, because <c>aligned_alloc</c> adds the alignment twice, and so maps memory that is aligned to 64 KiB.
    /// </remarks>
    public NativeMemorySource SmallSource
    {
        get => field ??= Source is HeapMemorySource { AlignsHere: true } ? Source : HeapMemorySource.OfHGlobal(OverreadToleranceInBytes);
        init;
    }

    /// <summary>
    /// Gets the largest request that the heap serves. If anything is limited, larger ones are mapped: each of malloc's arenas would keep
    /// megabytes of them, which no count shows and <c>malloc_trim</c> does not release.
    /// </summary>
    public int LargestHeapLengthInBytes => field != 0 ? field : field = IsLimited ? LargestLimitedHeapLength : int.MaxValue;

    public SafetyMode Safety { get; }

    public int OverreadToleranceInBytes { get; }

    /// <summary>Gets the source of watched memory. It uses no huge pages, because one cannot have a guard page within it.</summary>
    public VirtualMemorySource GuardedMappingSource
    {
        get => field ??= VirtualMemorySource.Create(HugePages.Off);
        init;
    }

    /// <summary>Gets the sizes of the pool: no more blocks than fit the budget.</summary>
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

    public long? MemoryBudgetInBytes { get; init; }

    /// <summary>Gets how much of the container or machine must stay free when a request is admitted; 0 for no minimum.</summary>
    public long MinimumFreeBytes { get; init; }

    public ProcessHeadroom Headroom { get; init; } = ProcessHeadroom.Shared;

    /// <summary>Gets whether memory that certainly does not fit the container is refused.</summary>
    public bool HonorsMemoryLimit => Options.HonorMemoryLimit && Headroom.Limits.HasHardLimit;

    public bool IsLimited => MemoryBudgetInBytes is not null || MinimumFreeBytes > 0 || HonorsMemoryLimit;

    /// <summary>Gets whether load is checked every second, and not only at the end of periods.</summary>
    public bool WatchesLoad
    {
        get => field && IsLimited;
        init;
    }
    = true;

    public bool TrimsNativeHeap => Options.TrimNativeHeap ?? IsLimited;

    /// <summary>Gets whether to fix malloc's map threshold. Null if the allocator has no reason to decide that.</summary>
    public bool? SetsNativeMapThreshold =>
        Options.SetNativeMapThreshold ?? ((MemoryBudgetInBytes is not null || MinimumFreeBytes > 0) && HonorsMemoryLimit ? true : null);

    /// <summary>
    /// Gets whether to fix malloc's map threshold before the first job with a name begins: in a container further jobs can begin only if
    /// the memory that codecs free goes back.
    /// </summary>
    public bool? SetsNativeMapThresholdForJobs => Options.SetNativeMapThreshold ?? (HonorsMemoryLimit && Headroom.IsLimited ? true : null);

    public NativeHeapTrimmer? HeapTrimmer
    {
        get => TrimsNativeHeap ? field : null;
        init;
    }
    = NativeHeapTrimmer.Shared;

    /// <summary>
    /// Gets the most bytes of idle counted arrays: an eighth of the budget or of the container, and without a budget at most 64 MiB.
    /// </summary>
    public long MaximumIdleArrayBytes =>
        MemoryBudgetInBytes / 8 ?? (IsLimited ? Math.Min(MostIdleArrayBytes, Headroom.Read().LimitBytes / 8) : MostIdleArrayBytes);

    /// <summary>Gets the largest request for an array: 1 MiB, what <c>ArrayPool.Shared</c> of older runtimes keeps.</summary>
    public int ArrayThresholdInBytes { get; init; } = 1024 * 1024;

    /// <summary>Gets the largest mapping of a group beyond the pool: 32 MiB (docs/design/measured.md says why).</summary>
    public int SegmentSizeInBytes { get; init; } = 32 * 1024 * 1024;

    public Clock Clock { get; init; } = SystemClock.Instance;

    public SystemMemory Pressure { get; init; } = SystemMemory.Shared;

    public TrimTimer Scheduler { get; init; } = TrimTimer.Shared;

    /// <summary>Gets how often a collection may be forced to find abandoned memory; null for never.</summary>
    public TimeSpan? SearchPeriod { get; }

    /// <summary>Gets whether <c>Dispose</c> is ignored, because the allocator is shared by the process.</summary>
    public bool IsShared { get; init; }

    /// <summary>Returns the limit for one allocation: that of the option, but no more than the process can address in one piece.</summary>
    public static long AllocationLimitOf(int? megabytes, bool is64Bit) => Math.Min(
        (megabytes ?? (is64Bit ? 4096 : 1024)) * 1024L * 1024, NativeMemorySource.LargestLength(is64Bit ? sizeof(long) : sizeof(int)));

    /// <summary>Makes the budget that counts the allocator's memory, with a limit or without.</summary>
    public MemoryBudget CreateBudget(AllocatorCounters counters)
    {
        bool isLimited = MemoryBudgetInBytes is not null || MinimumFreeBytes > 0;
        MemoryBudget budget = new(MemoryBudgetInBytes ?? long.MaxValue, Clock, Options.BudgetTimeout)
        {
            Headroom = Options.HonorMemoryLimit || MinimumFreeBytes > 0 ? Headroom : null,
            MinimumFreeBytes = MinimumFreeBytes,
            HonorsLimit = Options.HonorMemoryLimit,
            BeforeRefusal = isLimited || Options.HonorMemoryLimit ? () => MakeRoom(counters) : null,
            ReleaseIdle = Scheduler.ReleaseAll,
            Collect = SearchPeriod is not null ? Scheduler.Collections.CollectNow : null,
            TrimHeap = HeapTrimmer is { } trimmer ? isAgain => trimmer.TryTrim(counters, isAgain) : null,
        };
        if (isLimited)
        {
            Headroom.Register(budget);
        }

        return budget;
    }

    /// <summary>Gets the most that the container could hold with nothing else in it; unbounded if no limit is honored.</summary>
    public long LargestInContainerBytes => HonorsMemoryLimit ? Headroom.Read().LimitBytes : long.MaxValue;

    /// <summary>Throws if the container could not hold what a request needs, even with nothing else in it.</summary>
    public void ThrowIfLargerThanContainer(long neededBytes, long requestedBytes)
    {
        if (HonorsMemoryLimit && Headroom.Read() is Headroom left && neededBytes > left.LimitBytes)
        {
            throw MemoryLimitExceededException.ForContainer(requestedBytes, left.LimitBytes, left.CertainBytes);
        }
    }

    private void MakeRoom(AllocatorCounters counters)
    {
        Scheduler.ReleaseAll();
        Scheduler.Collections.RunLastResort(SearchPeriod is not null, HeapTrimmer, counters);
    }
}
