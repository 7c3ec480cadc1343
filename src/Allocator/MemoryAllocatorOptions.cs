namespace Allocator;

/// <summary>
/// Options of an allocator. <see cref="MemoryAllocator.Create(MemoryAllocatorOptions)"/> checks the values and takes a copy: later changes
/// have no effect.
/// </summary>
/// <remarks>Can be bound to a configuration. Not thread-safe.</remarks>
public sealed class MemoryAllocatorOptions
{
    /// <summary>The smallest page: more would take a second one behind every buffer.</summary>
    internal const int MaximumOverreadTolerance = 4096;

    /// <summary>Gets or sets the allocator's name in metrics, events and leak reports. <see langword="null"/>: none.</summary>
    public string? Name { get; set; }

    /// <summary>
    /// Gets or sets how much memory the pool holds at most, outstanding and idle, in MiB: whole blocks of 4 MiB. 0: retains nothing.
    /// <see langword="null"/>: 1/8 of the memory available to the process on 64-bit, and 128 on 32-bit or if that is unknown.
    /// </summary>
    /// <remarks>Available is the least of the machine's memory, the container's limit, and what the GC's heap may use.</remarks>
    public int? MaximumPoolSizeMegabytes { get; set; }

    /// <summary>
    /// Gets or sets the largest single allocation, in MiB. <see langword="null"/>: 4096 on 64-bit, 1024 on 32-bit. On 32-bit it is always
    /// less than 2,044.
    /// </summary>
    public int? AllocationLimitMegabytes { get; set; }

    /// <summary>
    /// Gets or sets how much memory may be held at once, in MiB: all outstanding, at its capacity, and all idle memory.
    /// <see langword="null"/>: no budget. A request that does not fit waits, see <see cref="BudgetTimeout"/>;
    /// <see cref="MemoryAllocator.AllocateAsync{T}"/> and its like wait without blocking a thread.
    /// </summary>
    /// <remarks>
    /// Idle memory is returned to the system before a request waits. Buffers of up to 1 MiB come from an array pool of the allocator's
    /// own, and take about twice as long as without a budget; larger ones up to 1.9 times (<c>docs/design/measured.md</c>).
    /// </remarks>
    public int? MemoryBudgetMegabytes { get; set; }

    /// <summary>
    /// Gets or sets how long a synchronous call waits for the budget before it throws <see cref="MemoryLimitExceededException"/>: up to 24
    /// days, or <see cref="Timeout.InfiniteTimeSpan"/>. It blocks its thread meanwhile, so the default is zero: it throws at once.
    /// </summary>
    public TimeSpan BudgetTimeout { get; set; }

    /// <summary>
    /// Gets or sets whether memory that certainly does not fit the container is refused with <see cref="MemoryLimitExceededException"/>,
    /// instead of being handed out to a process that is then killed for it. The default is <see langword="true"/>.
    /// </summary>
    /// <remarks>
    /// It concerns only hard limits, those of a memory control group (Linux containers) or of a job object (Windows), and only requests
    /// that idle memory does not serve. Before one is refused, all idle memory and free memory of <c>malloc</c> is returned, a blocking
    /// collection runs (at most one a second, in the whole process), and up to 0.1 s pass for finalizers. File pages count as free. If a
    /// limit is honored, small buffers come from arrays that the allocator counts, and not from <c>ArrayPool.Shared</c>.
    /// </remarks>
    public bool HonorMemoryLimit { get; set; } = true;

    /// <summary>
    /// Gets or sets how much of the container's memory, or without a limit of the machine's, must stay free for a request to be admitted,
    /// in MiB. <see langword="null"/>: free memory is not checked. It needs no budget, and works beside one. Requests that do not fit wait
    /// as for a budget, see <see cref="BudgetTimeout"/>. A request served by idle memory always fits.
    /// </summary>
    /// <remarks>
    /// The system's figures are read at most every 10 ms, with idle file pages counted as free. Whatever they say, outstanding and
    /// reserved memory never exceeds the rest of the limit. The free room is for memory that other processes, or other parts of this one,
    /// take later. If nothing else is outstanding or reserved, one request may use it; it fails at once if even that is not enough.
    /// </remarks>
    public int? MinimumFreeMegabytes { get; set; }

    /// <summary>
    /// Gets or sets whether free memory of the C library's <c>malloc</c> is released if memory is short: at high load, before a request
    /// waits or is refused, and in <see cref="MemoryAllocator.ReleaseRetainedResources"/>. Codecs leave much of it, and it counts against
    /// a container's limit. <see langword="null"/>: if a budget or <see cref="MinimumFreeMegabytes"/> is set, or a limit is honored. With
    /// glibc only; see <see cref="NativeHeap"/>.
    /// </summary>
    /// <remarks>At most once in a second, and in no more than a twentieth of the time: threads that allocate may wait meanwhile.</remarks>
    public bool? TrimNativeHeap { get; set; }

    /// <summary>
    /// Gets or sets whether memory is made resident before it is rented, as far as the renter can reach. <see langword="null"/>: if a
    /// control group's limit is honored (<see cref="HonorMemoryLimit"/>), so that writing to granted memory does not end the process.
    /// </summary>
    /// <remarks>
    /// Pages that are written to anyway cost no more this way. <see langword="false"/> is for programs that rent memory and never write
    /// most of it. Then only the sum of granted bytes is kept below the limit, and memory of other code beside it can end the process.
    /// </remarks>
    public bool? PopulateMemory { get; set; }

    /// <summary>
    /// Gets or sets whether making the allocator fixes the size from which the C library's <c>malloc</c> maps an allocation by itself, at
    /// 1 MiB. Memory that native codecs free then goes back to the system at once. <see langword="null"/>: if the limit of a container is
    /// honored (<see cref="HonorMemoryLimit"/>) and a budget or <see cref="MinimumFreeMegabytes"/> is set.
    /// </summary>
    /// <remarks>
    /// It concerns the whole process, is done once, and cannot be undone: the first allocator that decides it does so for all, and
    /// <see langword="false"/> is a decision too. Nothing is done if <c>malloc</c> is not glibc's, if the environment sets
    /// <c>MALLOC_MMAP_THRESHOLD_</c>, <c>MALLOC_TRIM_THRESHOLD_</c>, <c>MALLOC_MMAP_MAX_</c>, <c>MALLOC_TOP_PAD_</c> or the like in
    /// <c>GLIBC_TUNABLES</c>, or if the AppContext switch <c>Allocator.SetNativeMapThreshold</c> is false. Native code that allocates and
    /// frees 1 to 32 MiB in a loop becomes slower: each such allocation is faulted in anew.
    /// <see cref="NativeHeap.TrySetMapThreshold"/> sets another size.
    /// </remarks>
    public bool? SetNativeMapThreshold { get; set; }

    /// <summary>Gets or sets whether groups and pixel buffers are always <see cref="AllocationOptions.Contiguous"/>.</summary>
    public bool PreferContiguous { get; set; }

    /// <summary>Gets or sets the source of unmanaged memory.</summary>
    public NativeMemoryKind NativeMemory { get; set; } = NativeMemoryKind.Virtual;

    /// <summary>Gets or sets whether huge pages are asked for.</summary>
    public HugePages HugePages { get; set; } = HugePages.Auto;

    /// <summary>
    /// Gets or sets how often idle memory is looked at, from 1 ms to 24 days. Default: 1 minute, as in <c>ArrayPool.Shared</c>.
    /// </summary>
    /// <remarks>Each period is stretched by a random part of up to a fifth, so that processes do not trim together.</remarks>
    public TimeSpan TrimPeriod { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Gets or sets the part of the memory idle for a whole period that is returned at its end, from 0 to 1. Default: 0.5.
    /// </summary>
    public double TrimRate { get; set; } = 0.5;

    /// <summary>
    /// Gets or sets a callback with the address and the length in bytes of every block of the pool that has got memory from the system:
    /// when it is first used or prewarmed, and again after a trim took its memory. This is the place to register a block with a device. No
    /// buffer uses the block yet. <see langword="null"/>: nothing.
    /// </summary>
    /// <remarks>
    /// Called on the thread that asked for memory, which waits for it; for different blocks on several threads at once; under no lock. An
    /// exception goes on to that thread, nothing is allocated, and the block's memory goes back to the system without
    /// <see cref="BlockReleasing"/>. If the system refuses to take it, the call is repeated before the block is used. Not called for small
    /// buffers, for buffers without a block of the pool, and for those that a <see cref="SafetyMode"/> watches.
    /// </remarks>
    public Action<nint, long>? BlockCommitted { get; set; }

    /// <summary>
    /// Gets or sets a callback with the address and the length in bytes of every block of the pool that is about to return its memory to
    /// the system: before each trim of it, unless <see cref="KeepBlocks"/>, and when the allocator is disposed. This is the place to end
    /// the registration. No buffer uses the block any more. <see langword="null"/>: nothing.
    /// </summary>
    /// <remarks>
    /// Called on the thread that trims or disposes, for different blocks on several threads at once, under no lock. That thread may be one
    /// of the library's or one that allocates. It is the finalizer's only if a finalizer of your own disposes the last buffer of a
    /// disposed allocator. Requests by the callback are served from existing memory or refused: nothing is released for them, and they do
    /// not wait. If a block is outstanding when the allocator is disposed, this is called when the block comes back, and not at the end of
    /// the process. After an exception the block keeps its memory until the next trim. When the allocator is disposed the call is repeated
    /// once, and the memory goes all the same. <see cref="MemoryAllocator.ReleaseRetainedResources"/> and
    /// <see cref="MemoryAllocator.Dispose"/> throw the first exception of their own calls; others are written to the <c>EventSource</c>
    /// named <c>Allocator</c>, as <c>CallbackFailed</c>. If the system refuses to take the memory, <see cref="BlockCommitted"/> follows;
    /// if that throws, it is called again before the block is used.
    /// </remarks>
    public Action<nint, long>? BlockReleasing { get; set; }

    /// <summary>
    /// Gets or sets whether blocks of the pool keep their memory until the allocator is disposed: neither time, nor a high load, nor
    /// <see cref="MemoryAllocator.ReleaseRetainedResources"/> takes it, so that a block that was registered with a device stays
    /// registered. <see cref="MaximumPoolSizeMegabytes"/> must be set, and at most <see cref="MemoryBudgetMegabytes"/>.
    /// </summary>
    /// <remarks>
    /// With a budget, idle blocks make no room for others: a request that would need their memory throws
    /// <see cref="MemoryLimitExceededException"/>. Leave as much of the budget beside the pool as small and larger buffers need.
    /// </remarks>
    public bool KeepBlocks { get; set; }

    /// <summary>Gets or sets whether memory is zeroed when it comes back, so that no renter ever sees another's pixels.</summary>
    public bool ClearOnReturn { get; set; }

    /// <summary>Gets or sets how memory is treated whose owner was collected without <c>Dispose</c>.</summary>
    public AbandonedMemory Abandoned { get; set; } = AbandonedMemory.Quarantine;

    /// <summary>
    /// Gets or sets whether collections of the garbage collector are forced to find memory whose owner was dropped without <c>Dispose</c>.
    /// <see langword="null"/>, the default: regularly once this allocator has found such memory; before that, only if memory is short.
    /// </summary>
    /// <remarks>
    /// Unmanaged memory alone causes no collection. Before the first find, one is forced while a request waits, before one is refused, and
    /// if the pool is full: once an hour, and when outstanding memory has grown by its size since. <see langword="true"/> searches
    /// regularly from the start: at most once in a <see cref="TrimPeriod"/>, and ever more seldom, down to once an hour, in a process that
    /// neither allocates nor disposes. A forced collection is of generation 2, not blocking, and on no thread that allocates or disposes;
    /// they take at most 5 % of the time. If concurrent collection is off, it is only forced while a request waits and before one is
    /// refused. If another collection found such memory, a forced one brings it back in any case.
    /// </remarks>
    public bool? CollectToFindAbandoned { get; set; }

    /// <summary>
    /// Gets or sets how closely the use of memory is watched. <see langword="null"/>: as the AppContext data <c>Allocator.Safety</c> says,
    /// which a <c>runtimeconfig.json</c> may contain; without it as the environment variable <c>ALLOCATOR_SAFETY</c> says; without either
    /// <see cref="SafetyMode.Standard"/>.
    /// </summary>
    public SafetyMode? Safety { get; set; }

    /// <summary>
    /// Gets or sets how rarely <see cref="SafetyMode.Sampled"/> mode watches: one allocation in this many, at least 1. Default: 1,000.
    /// </summary>
    public int SafetySampleInterval { get; set; } = 1000;

    /// <summary>
    /// Gets or sets how many bytes behind every unmanaged buffer can be read without a fault, from 0 to 4,096. <see langword="null"/>: 64
    /// in <see cref="SafetyMode.Standard"/> and <see cref="SafetyMode.Sampled"/> mode, and 0 in <see cref="SafetyMode.Guarded"/>. In
    /// Standard mode it is never less than 64.
    /// </summary>
    /// <remarks>
    /// Codecs and other code for SIMD read some bytes past the end of a row. Their contents are unspecified, often another buffer. Writing
    /// there is an error, which Sampled and Guarded mode find. The tolerance does not concern arrays, which serve requests of up to 1 MiB,
    /// and memory that you wrap.
    /// </remarks>
    public int? OverreadToleranceInBytes { get; set; }

    /// <summary>Makes a copy that the caller cannot change.</summary>
    internal MemoryAllocatorOptions Copy() => (MemoryAllocatorOptions)MemberwiseClone();

    /// <summary>Describes the options in short.</summary>
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
            // Memory that is never given back needs a size that the user has chosen, and room for it in the budget.
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
    /// <summary>Finds uses of an owner after <c>Dispose</c>, but neither those of older spans nor writes past an end.</summary>
    Standard,

    /// <summary>
    /// As <see cref="Guarded"/> for one in <see cref="MemoryAllocatorOptions.SafetySampleInterval"/> allocations, chosen at random, and as
    /// <see cref="Standard"/> for the others: cheap enough for production. Where an array is promised (<c>AsArrayPool</c>, and up to 1 MiB
    /// <c>AsMemoryPool</c> and streams) nothing is watched. 64 bytes behind a buffer stay readable
    /// (<see cref="MemoryAllocatorOptions.OverreadToleranceInBytes"/>). Memory goes back to the system on return, and the addresses of the
    /// last 16 stay inaccessible. Nothing is thrown: what is found is raised as
    /// <see cref="Diagnostics.MemoryDiagnostics.CorruptionFound"/>. No file is written: if an access ends the process, the runtime prints
    /// its stack, and <see cref="Guarded"/> mode can tell the rest.
    /// </summary>
    Sampled,

    /// <summary>
    /// For tests: slow, and takes much memory. Every allocation lies between inaccessible pages, as near to the one behind it as its
    /// alignment allows (64 bytes, or what was asked for), filled with 0xCD unless clean. After its return it is filled with 0xDD and
    /// inaccessible for up to 256 further returns, as far as the size of the pool allows. An access to the pages around it, or after its
    /// return, ends the process at that instruction; <see cref="Diagnostics.AllocationRecords"/> then says which buffer it was. Writes
    /// that no page prevents, into the few bytes up to the page or by devices, are found at the return or when the memory is released,
    /// and throw <see cref="MemoryCorruptedException"/>. No buffer is a managed array, and none is better aligned than it has to be.
    /// </summary>
    Guarded,
}

/// <summary>Names the treatments of memory whose owner was collected without <c>Dispose</c>.</summary>
public enum AbandonedMemory
{
    /// <summary>
    /// The default: kept apart for one more Gen2 collection and trim period at least, because a live span may point into it.
    /// </summary>
    Quarantine,

    /// <summary>
    /// The next request may be served with it at once. A span that outlived its owner then reads and writes another renter's memory.
    /// </summary>
    Reuse,
}

/// <summary>Names the sources of unmanaged memory.</summary>
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
