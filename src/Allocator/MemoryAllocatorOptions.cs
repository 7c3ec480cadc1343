namespace Allocator;

/// <summary>
/// Options of an allocator. <see cref="MemoryAllocator.Create(MemoryAllocatorOptions)"/> validates and copies them; later changes have no
/// effect.
/// </summary>
/// <remarks>Can be bound to a configuration. Not thread-safe.</remarks>
public sealed class MemoryAllocatorOptions
{
    /// <summary>The smallest page size: a larger tolerance would need a second page behind every buffer.</summary>
    internal const int MaximumOverreadTolerance = 4096;

    /// <summary>Gets or sets the allocator's name in metrics, events and leak reports, or <see langword="null"/> if unnamed.</summary>
    public string? Name { get; set; }

    /// <summary>
    /// Gets or sets the most memory the pool holds, outstanding and idle together, in MiB; it is divided into blocks of 4 MiB. With 0
    /// the pool keeps nothing. The default, <see langword="null"/>, is 1/8 of the memory available to the process on 64-bit, and 128
    /// on 32-bit or if that is unknown; but no more than <see cref="MemoryBudgetMegabytes"/>.
    /// </summary>
    /// <remarks>The available memory is the smallest of the machine's memory, the container's limit, and the GC's heap limit.</remarks>
    public int? MaximumPoolSizeMegabytes { get; set; }

    /// <summary>
    /// Gets or sets the largest single allocation, in MiB. The default, <see langword="null"/>, is 4096 on 64-bit and 1024 on 32-bit,
    /// where it is always less than 2,044.
    /// </summary>
    public int? AllocationLimitMegabytes { get; set; }

    /// <summary>
    /// Gets or sets the most memory that may be outstanding and idle together, in MiB, or <see langword="null"/> for no budget.
    /// Outstanding memory counts at its capacity. A request that does not fit waits up to <see cref="BudgetTimeout"/>;
    /// <see cref="MemoryAllocator.AllocateAsync{T}"/> and the other async methods wait without blocking a thread.
    /// </summary>
    /// <remarks>
    /// Idle memory is returned to the system before a request waits. Buffers up to 1 MiB come from the allocator's own array pool.
    /// Renting takes 1.5 to 2.5 times as long as without a budget.
    /// </remarks>
    public int? MemoryBudgetMegabytes { get; set; }

    /// <summary>
    /// Gets or sets how long a synchronous call waits for the budget before it throws <see cref="MemoryLimitExceededException"/>: up to 24
    /// days, or <see cref="Timeout.InfiniteTimeSpan"/>. The wait blocks the thread, so the default is zero: the call throws at once. In a
    /// job by name, allocations beyond its claim wait for at least 30 s.
    /// </summary>
    public TimeSpan BudgetTimeout { get; set; }

    /// <summary>
    /// Gets or sets whether a request that certainly does not fit the container fails with <see cref="MemoryLimitExceededException"/>
    /// instead of getting the process killed. The default is <see langword="true"/>.
    /// </summary>
    /// <remarks>
    /// This applies to hard limits, of a memory control group (Linux containers) or a job object (Windows), and to requests that idle
    /// memory cannot serve. Before one is refused, all idle memory and free memory of <c>malloc</c> is returned, a blocking collection
    /// runs (at most one a second in the process), and up to 0.1 s pass for finalizers. File pages count as free. While a limit is
    /// honored, small buffers come from arrays that the allocator counts, not from <c>ArrayPool.Shared</c>.
    /// </remarks>
    public bool HonorMemoryLimit { get; set; } = true;

    /// <summary>
    /// Gets or sets how much memory of the container, or without a limit of the machine, must stay free when a request is admitted, in
    /// MiB, or <see langword="null"/> for no minimum. It works with a budget and without one. Requests that do not fit wait up to
    /// <see cref="BudgetTimeout"/>. A request that idle memory can serve always fits.
    /// </summary>
    /// <remarks>
    /// The system's figures are at most 10 ms old, with file pages counted as free. Whatever they say, outstanding and reserved
    /// memory never exceeds the limit less this minimum. The minimum is for memory that other code takes later; jobs by name, whose claims
    /// include that, may use it. If nothing is outstanding or reserved, waiting cannot help: one request may then use the minimum too, and
    /// fails at once if it still does not fit.
    /// </remarks>
    public int? MinimumFreeMegabytes { get; set; }

    /// <summary>
    /// Gets or sets whether free memory of the C library's <c>malloc</c> is returned to the system when memory is short: at high load,
    /// before a request waits or is refused, and in <see cref="MemoryAllocator.ReleaseRetainedResources"/>. Codecs leave much of it, and
    /// it counts against a container's limit. The default, <see langword="null"/>, does so if a budget or
    /// <see cref="MinimumFreeMegabytes"/> is set or a limit is honored. With glibc only; see <see cref="NativeHeap"/>.
    /// </summary>
    /// <remarks>
    /// At most 5 % of the time, because threads that allocate may wait meanwhile, and once a second; more often only after the first jobs
    /// by name, and before a request is refused.
    /// </remarks>
    public bool? TrimNativeHeap { get; set; }

    /// <summary>
    /// Gets or sets whether memory is made resident before it is rented. The default, <see langword="null"/>, does so if a control
    /// group's limit is honored (<see cref="HonorMemoryLimit"/>), so that writing to granted memory cannot get the process killed.
    /// </summary>
    /// <remarks>
    /// Pages that are written anyway cost no more this way. Use <see langword="false"/> for programs that never write most of what they
    /// rent. Then only the sum of granted bytes stays below the limit, and memory that other code takes can get the process killed.
    /// </remarks>
    public bool? PopulateMemory { get; set; }

    /// <summary>
    /// Gets or sets whether creating the allocator makes the C library's <c>malloc</c> map allocations from 1 MiB on, so that memory
    /// which native codecs free goes back to the system at once. The default, <see langword="null"/>, does so if a container's limit is
    /// honored (<see cref="HonorMemoryLimit"/>), and a budget or <see cref="MinimumFreeMegabytes"/> is set; without these the first job
    /// by name does it.
    /// </summary>
    /// <remarks>
    /// This affects the whole process and cannot be undone. The first allocator whose value is not null decides for all, also with
    /// <see langword="false"/>, unless one whose value is null has set it before, for the reasons above. Nothing is done if <c>malloc</c>
    /// is not glibc's, if the environment sets <c>MALLOC_MMAP_THRESHOLD_</c>, <c>MALLOC_TRIM_THRESHOLD_</c>, <c>MALLOC_MMAP_MAX_</c>,
    /// <c>MALLOC_TOP_PAD_</c> or the like in <c>GLIBC_TUNABLES</c>, or if the AppContext switch <c>Allocator.SetNativeMapThreshold</c> is
    /// false. Native code that allocates and frees 1 to 32 MiB in a loop becomes slower, because of page faults.
    /// <see cref="NativeHeap.TrySetMapThreshold"/> sets another size.
    /// </remarks>
    public bool? SetNativeMapThreshold { get; set; }

    /// <summary>Gets or sets whether groups and pixel buffers are always <see cref="AllocationOptions.Contiguous"/>.</summary>
    public bool PreferContiguous { get; set; }

    /// <summary>Gets or sets the source of unmanaged memory.</summary>
    public NativeMemoryKind NativeMemory { get; set; } = NativeMemoryKind.Virtual;

    /// <summary>Gets or sets whether huge pages are requested.</summary>
    public HugePages HugePages { get; set; } = HugePages.Auto;

    /// <summary>
    /// Gets or sets how often idle memory is returned, from 1 ms to 24 days. The default is 1 minute, as in <c>ArrayPool.Shared</c>.
    /// </summary>
    /// <remarks>Each period is extended by a random part, up to a fifth, so that processes do not trim together.</remarks>
    public TimeSpan TrimPeriod { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Gets or sets which part of the memory that was idle for a whole period is returned, from 0 to 1. The default is 0.5.
    /// </summary>
    public double TrimRate { get; set; } = 0.5;

    /// <summary>
    /// Gets or sets a callback, with address and length in bytes, for every block of the pool that has received memory from the system:
    /// when it is first used or prewarmed, and again after a trim. Register the block with a device here; no buffer uses it yet.
    /// </summary>
    /// <remarks>
    /// Called on the thread that requested memory, without a lock, and for different blocks on several threads at once. If it throws,
    /// that thread gets the exception, nothing is allocated, and the block's memory is returned to the system without
    /// <see cref="BlockReleasing"/>. If the system does not take it back, the call is repeated before the block is used. Not called for
    /// small buffers, for buffers outside of the pool, and for those that a <see cref="SafetyMode"/> watches.
    /// </remarks>
    public Action<nint, long>? BlockCommitted { get; set; }

    /// <summary>
    /// Gets or sets a callback, with address and length in bytes, for every block of the pool that is about to lose its memory: before it
    /// is trimmed (never with <see cref="KeepBlocks"/>) and when the allocator is disposed. End the registration here; no buffer uses the
    /// block any more.
    /// </summary>
    /// <remarks>
    /// Called on the thread that trims, allocates or disposes, without a lock, and for different blocks on several threads at once; also on
    /// the thread of a request of another allocator, before the container refuses that. Requests of the callback are served from idle
    /// memory or refused; they never wait. If a block is outstanding when the allocator is disposed, this is called when the block is
    /// returned; it is not called at the end of the process. After an exception the block keeps its memory until the next trim; when the
    /// allocator is disposed, the call is repeated once and the memory is freed anyway.
    /// <see cref="MemoryAllocator.ReleaseRetainedResources"/> and <see cref="MemoryAllocator.Dispose"/> throw the first exception of
    /// their own calls; others become the event <c>CallbackFailed</c> of the <c>EventSource</c> named <c>Allocator</c>. If the system
    /// does not take the memory back, <see cref="BlockCommitted"/> is called for the block again.
    /// </remarks>
    public Action<nint, long>? BlockReleasing { get; set; }

    /// <summary>
    /// Gets or sets whether blocks of the pool keep their memory until the allocator is disposed, so that a block which was registered
    /// with a device stays registered. Neither trims nor <see cref="MemoryAllocator.ReleaseRetainedResources"/> release it then.
    /// <see cref="MaximumPoolSizeMegabytes"/> must be set, to at least 4 and at most <see cref="MemoryBudgetMegabytes"/>.
    /// </summary>
    /// <remarks>
    /// With a budget, idle blocks make no room for others: a request that would need their memory throws
    /// <see cref="MemoryLimitExceededException"/>. Make the budget larger than the pool by what small and large buffers need.
    /// </remarks>
    public bool KeepBlocks { get; set; }

    /// <summary>Gets or sets whether memory is zeroed when it is returned, so that no renter sees the pixels of another.</summary>
    public bool ClearOnReturn { get; set; }

    /// <summary>Gets or sets what happens to memory whose owner was collected without <c>Dispose</c>.</summary>
    public AbandonedMemory Abandoned { get; set; } = AbandonedMemory.Quarantine;

    /// <summary>
    /// Gets or sets whether garbage collections are forced to find memory whose owner was dropped without <c>Dispose</c>. The default,
    /// <see langword="null"/>, does so regularly once this allocator has found such memory, and before that only if memory is short.
    /// </summary>
    /// <remarks>
    /// Unmanaged memory alone causes no collection. Before the first find, one is forced while a request waits, before one is refused,
    /// and while the pool is full: once an hour, and when outstanding memory has grown by the size of the pool (by twice that and so on,
    /// while nothing is found). With <see langword="true"/> the search is regular from the start: at most once a
    /// <see cref="TrimPeriod"/>, in an idle process ever more rarely, down to once an hour. Forced collections are of generation 2 and not
    /// blocking, run on no thread that allocates or disposes, and take at most 5 % of the time. Two kinds block: the one before the
    /// container refuses a request (<see cref="HonorMemoryLimit"/>), on the thread of that request, and those after the first jobs by name
    /// in a container; <see langword="false"/> turns off both. If concurrent collection is off, none is forced except for waiting
    /// requests, before a refusal, and after such jobs. Memory that another collection has found is always brought back by a forced one.
    /// </remarks>
    public bool? CollectToFindAbandoned { get; set; }

    /// <summary>
    /// Gets or sets how closely the use of memory is watched. The default, <see langword="null"/>, takes the AppContext data
    /// <c>Allocator.Safety</c> (from <c>runtimeconfig.json</c>), else the environment variable <c>ALLOCATOR_SAFETY</c>, else
    /// <see cref="SafetyMode.Standard"/>.
    /// </summary>
    public SafetyMode? Safety { get; set; }

    /// <summary>
    /// Gets or sets the interval of <see cref="SafetyMode.Sampled"/> mode: it watches one allocation in this many, at least 1. The default
    /// is 1,000.
    /// </summary>
    public int SafetySampleInterval { get; set; } = 1000;

    /// <summary>
    /// Gets or sets how many bytes behind every unmanaged buffer can be read without a fault, from 0 to 4,096. The default,
    /// <see langword="null"/>, is 64 in <see cref="SafetyMode.Standard"/> and <see cref="SafetyMode.Sampled"/> mode and 0 in
    /// <see cref="SafetyMode.Guarded"/>. In Standard mode it is at least 64.
    /// </summary>
    /// <remarks>
    /// SIMD code in codecs reads some bytes past the end of a row. The contents are unspecified and often belong to another buffer.
    /// Writing there is an error, which Sampled and Guarded mode find. The tolerance does not apply to arrays, which serve requests up to
    /// 1 MiB, or to memory that you wrap.
    /// </remarks>
    public int? OverreadToleranceInBytes { get; set; }

    /// <summary>Creates a copy that the caller cannot change.</summary>
    internal MemoryAllocatorOptions Copy() => (MemoryAllocatorOptions)MemberwiseClone();

    /// <summary>Describes the options briefly.</summary>
    public override string ToString() =>
        $"{nameof(MemoryAllocatorOptions)} {Name ?? "without a name"}: pool {InMegabytes(MaximumPoolSizeMegabytes)}, "
            + $"budget {InMegabytes(MemoryBudgetMegabytes)}, one allocation {InMegabytes(AllocationLimitMegabytes)}, "
            + (Safety?.ToString() ?? "default safety");

    /// <summary>Throws if a value is out of range, naming the value and the limit.</summary>
    internal void Validate()
    {
        const string Defined = "must be a defined value";
        TimeSpan longest = TimeSpan.FromMilliseconds(int.MaxValue);
        Throw.IfNegative(MaximumPoolSizeMegabytes ?? 0, nameof(MaximumPoolSizeMegabytes));
        Throw.IfBelowOne(AllocationLimitMegabytes ?? 1, nameof(AllocationLimitMegabytes));
        Throw.IfBelowOne(MemoryBudgetMegabytes ?? 1, nameof(MemoryBudgetMegabytes));
        Throw.IfNegative(MinimumFreeMegabytes ?? 0, nameof(MinimumFreeMegabytes));
        if (KeepBlocks)
        {
            // Memory that is never released needs a size that the user has chosen, and room for it in the budget.
            Throw.Unless(MaximumPoolSizeMegabytes >= 4, nameof(MaximumPoolSizeMegabytes), MaximumPoolSizeMegabytes,
                $"must be given and hold a block of 4 MiB if {nameof(KeepBlocks)} is set");
            Throw.Unless(!(MaximumPoolSizeMegabytes > MemoryBudgetMegabytes), nameof(MaximumPoolSizeMegabytes), MaximumPoolSizeMegabytes,
                $"must not exceed {nameof(MemoryBudgetMegabytes)}, {MemoryBudgetMegabytes}, if {nameof(KeepBlocks)} is set");
        }

        Throw.Unless(
            BudgetTimeout == Timeout.InfiniteTimeSpan || (BudgetTimeout >= TimeSpan.Zero && BudgetTimeout <= longest),
            nameof(BudgetTimeout), BudgetTimeout, "must be from zero to int.MaxValue milliseconds, or infinite");

        // NaN fails too.
        Throw.Unless(TrimRate is >= 0 and <= 1, nameof(TrimRate), TrimRate, "must be from 0 to 1");
        Throw.Unless(TrimPeriod >= TimeSpan.FromMilliseconds(1) && TrimPeriod <= longest, nameof(TrimPeriod), TrimPeriod,
            "must be from 1 millisecond to int.MaxValue milliseconds");
        Throw.Unless(NativeMemory is >= 0 and <= NativeMemoryKind.CoTaskMem, nameof(NativeMemory), NativeMemory, Defined);
        Throw.Unless(HugePages is >= 0 and <= HugePages.Off, nameof(HugePages), HugePages, Defined);
        Throw.Unless(Safety is null or (>= 0 and <= SafetyMode.Guarded), nameof(Safety), Safety, Defined);
        Throw.Unless(Abandoned is >= 0 and <= AbandonedMemory.Reuse, nameof(Abandoned), Abandoned, Defined);
        Throw.IfBelowOne(SafetySampleInterval, nameof(SafetySampleInterval));
        Throw.IfNotWithin(OverreadToleranceInBytes ?? 0, MaximumOverreadTolerance, nameof(OverreadToleranceInBytes));
    }

    private static string InMegabytes(int? size) => size is null ? "by default" : Invariant($"{size:N0} MiB");
}

/// <summary>How closely the use of rented memory is watched.</summary>
public enum SafetyMode
{
    /// <summary>Finds uses of an owner after <c>Dispose</c>, but not uses of older spans or writes past the end of a buffer.</summary>
    Standard,

    /// <summary>
    /// As <see cref="Guarded"/> for one in <see cref="MemoryAllocatorOptions.SafetySampleInterval"/> allocations, chosen at random, and as
    /// <see cref="Standard"/> for the others: cheap enough for production. Nothing is watched where an array is promised
    /// (<c>AsArrayPool</c>, and up to 1 MiB <c>AsMemoryPool</c> and streams). 64 bytes behind a buffer stay readable
    /// (<see cref="MemoryAllocatorOptions.OverreadToleranceInBytes"/>). Returned memory is released to the system, and the addresses of
    /// the last 16 buffers stay inaccessible. Findings raise <see cref="Diagnostics.MemoryDiagnostics.CorruptionFound"/>; nothing is
    /// thrown and no file is written. If an access ends the process, the runtime prints its stack.
    /// </summary>
    Sampled,

    /// <summary>
    /// For tests: slow, and needs much memory. Every allocation is placed between inaccessible pages, as close to the one behind it as its
    /// alignment allows (64 bytes, or as requested), and filled with 0xCD unless clean. When it is returned, it is filled with 0xDD and
    /// stays inaccessible for up to 256 further returns, as far as the size of the pool allows. Touching the pages around it, or the
    /// buffer after its return, ends the process at that instruction; <see cref="Diagnostics.AllocationRecords"/> then says which buffer
    /// it was. Other stray writes are found when the buffer is returned or released, and throw <see cref="MemoryCorruptedException"/>.
    /// No buffer is a managed array, except where one is promised (<c>AsArrayPool</c>), and none is better aligned than necessary.
    /// </summary>
    Guarded,
}

/// <summary>What happens to memory whose owner was collected without <c>Dispose</c>.</summary>
public enum AbandonedMemory
{
    /// <summary>
    /// The default: it cannot be rented for at least one more Gen2 collection and trim period, because a live span may point into it.
    /// What a job leaves behind that was refused memory can be rented at once when its reservation has ended.
    /// </summary>
    Quarantine,

    /// <summary>
    /// It can be rented again at once. A span that outlived its owner then reads and writes another renter's memory.
    /// </summary>
    Reuse,
}

/// <summary>Where unmanaged memory comes from.</summary>
public enum NativeMemoryKind
{
    /// <summary>
    /// Address space reserved from the operating system (<c>mmap</c>, <c>VirtualAlloc</c>). Trimmed memory really leaves the process,
    /// blocks start on 2 MiB boundaries, and adjacent blocks make contiguous runs. The default.
    /// </summary>
    Virtual,

    /// <summary>The C heap, aligned (<c>NativeMemory.AlignedAlloc</c>). Freed memory may stay with the process.</summary>
    Heap,

    /// <summary><c>Marshal.AllocHGlobal</c>.</summary>
    HGlobal,

    /// <summary><c>Marshal.AllocCoTaskMem</c>, for memory handed to COM. One allocation is below 2 GiB.</summary>
    CoTaskMem,
}

/// <summary>Says whether the operating system is asked for huge pages.</summary>
public enum HugePages
{
    /// <summary>
    /// Blocks are advised for huge pages before their first touch, if the system has them. Needs <see cref="NativeMemoryKind.Virtual"/>.
    /// </summary>
    Auto,

    /// <summary>Huge pages are refused, even if the system would use them without being asked.</summary>
    Off,
}
