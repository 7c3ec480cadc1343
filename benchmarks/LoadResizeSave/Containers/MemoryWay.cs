namespace LoadResizeSave.Containers;

/// <summary>What the library claims of a way of having memory, in a container whose memory the jobs together exceed.</summary>
/// <param name="SurvivingShare">The least share of runs that end without a kill.</param>
internal sealed record SurvivalClaim(double SurvivingShare, bool MayFail);

/// <summary>What is compared in containers: a way of having memory, or a whole pipeline.</summary>
/// <param name="Claim">What the library claims of it; null if it is not of this library.</param>
internal abstract record ComparedWay(string Name, string Title, SurvivalClaim? Claim)
{
    public bool IsOfLibrary => Claim is not null;
}

/// <summary>A way of having the memory for pictures.</summary>
/// <param name="CreateStore">
/// Makes the store that lends it, for a container of so many MiB; the time is how often a pool looks at its idle memory.
/// </param>
internal sealed record MemoryWay(string Name, string Title, Func<int, TimeSpan, PixelStore> CreateStore, SurvivalClaim? Claim = null)
    : ComparedWay(Name, Title, Claim)
{
    /// <summary>
    /// The size from which on malloc maps memory of its own for a request, in bytes, where the library's guides are followed: large pieces
    /// of codecs then go back to the system when they are freed.
    /// </summary>
    public const int MapThresholdInBytes = 1 << 20;

    private const string DefaultName = "default";

    // Kept free of the container's limit by a budget: what the runtime takes beside pixels, and an eighth for what codecs take of malloc.
    private const int RuntimeMegabytes = 64;
    private const double CalmShare = 0.875;

    // What malloc and the collector may take after a job was admitted.
    private const double FreeShare = 0.125;

    // How long a synchronous request waits.
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(2);

    public static IReadOnlyList<MemoryWay> All { get; } =
    [
        new("gc", "GC arrays", (_, _) => new ArrayStore(pooled: false)),
        new("arraypool", "ArrayPool.Shared", (_, _) => new ArrayStore(pooled: true)),
        new("aligned", "AlignedAlloc, no pool", (_, _) => new AlignedStore()),
        new("pool", "a pool, no limit honored", (_, trim) => Store(new() { TrimPeriod = trim, HonorMemoryLimit = false })),
        new(DefaultName, "by default", (_, trim) => Store(new() { TrimPeriod = trim }), new(0.9, MayFail: true)),
        new(
            "budget", "with a budget",
            (limit, trim) => Store(new() { TrimPeriod = trim, MemoryBudgetMegabytes = Budget(limit), BudgetTimeout = s_timeout }),
            new(1, MayFail: true)),
        new(
            "free", "with MinimumFreeMegabytes",
            (limit, trim) => Store(new() { TrimPeriod = trim, MinimumFreeMegabytes = Free(limit), BudgetTimeout = s_timeout }),
            new(1, MayFail: true)),
        new(
            "reserve", "a reservation a job",
            (limit, trim) => Store(new() { TrimPeriod = trim, MinimumFreeMegabytes = Free(limit) }, JobReservation.Estimated),
            new(1, MayFail: false)),
        new(
            "learned", "learned, no number",
            (limit, trim) => Store(new() { TrimPeriod = trim, MinimumFreeMegabytes = DefaultFree(limit) }, JobReservation.Learned),
            new(1, MayFail: true)),
        new(
            "ambient", "learned and ambient, no number",
            (limit, trim) => Store(new() { TrimPeriod = trim, MinimumFreeMegabytes = DefaultFree(limit) }, JobReservation.Ambient),
            new(1, MayFail: true)),
    ];

    /// <summary>Gets whether its user has read the guides, and set more than the defaults: then malloc's map threshold too.</summary>
    public bool SetsMapThreshold => IsOfLibrary && Name != DefaultName;

    public static MemoryWay Get(string name)
        => All.FirstOrDefault(way => way.Name == name) ?? throw new ArgumentException($"There is no way called {name}.", nameof(name));

    public static int Budget(int limitMegabytes) => Math.Max(32, (int)(CalmShare * limitMegabytes) - RuntimeMegabytes);

    /// <summary>Returns how much is to stay free in a container of <paramref name="limitMegabytes"/>, in MiB.</summary>
    public static int Free(int limitMegabytes) => Math.Max(16, (int)(FreeShare * limitMegabytes));

    /// <summary>Returns what <c>AddMemoryAllocator</c> leaves free in such a container where no limit is set, in MiB.</summary>
    public static int DefaultFree(int limitMegabytes) => Math.Max(32, limitMegabytes / 5);

    private static BlockStore Store(MemoryAllocatorOptions options, JobReservation reserves = JobReservation.None) =>
        new(options, reserves);
}
