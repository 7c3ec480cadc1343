namespace LoadResizeSave.Containers;

/// <summary>What the library claims of a way of having memory, in a container whose memory the jobs together exceed.</summary>
/// <param name="SurvivingShare">The least share of runs that end without a kill.</param>
internal sealed record SurvivalClaim(double SurvivingShare, bool MayFail);

/// <summary>What is compared in containers: a way of having memory, or a whole pipeline.</summary>
/// <param name="Claim">What the library claims of it; null if it is not of this library.</param>
internal abstract record ComparedWay(string Name, string Title, SurvivalClaim? Claim)
{
    public bool IsOfLibrary => Claim is not null;

    /// <summary>Gets what a job reserves before it begins.</summary>
    public JobReservation Reserves { get; init; }

    /// <summary>Gets the budget that it has in place of memory that stays free, in MiB; null for none.</summary>
    public int? BudgetMegabytes { get; init; }
}

/// <summary>A way of having the memory for pictures.</summary>
/// <param name="CreateStore">
/// Makes the store that lends it, for a container of so many MiB; the time is how often a pool looks at its idle memory.
/// </param>
internal sealed record MemoryWay(string Name, string Title, Func<int, TimeSpan, PixelStore> CreateStore, SurvivalClaim? Claim = null)
    : ComparedWay(Name, Title, Claim)
{
    private const char BudgetMark = '@';

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
        Reserving("reserve", "a reservation a job", JobReservation.Estimated, Free, new(1, MayFail: false)),
        Reserving("learned", "learned, no number", JobReservation.Learned, DefaultFree, new(1, MayFail: true)),
        Reserving("ambient", "learned and ambient, no number", JobReservation.Ambient, DefaultFree, new(1, MayFail: true)),
    ];

    /// <summary>Gets whether malloc's map threshold is set: everywhere but where the library's defaults are shown.</summary>
    public bool SetsMapThreshold => Name != DefaultName;

    /// <summary>Returns the way of a name, as <see cref="ComparedWay.Name"/> has it.</summary>
    public static MemoryWay Get(string name)
    {
        string[] parts = name.Split(BudgetMark);
        MemoryWay way = All.FirstOrDefault(way => way.Name == parts[0])
            ?? throw new ArgumentException($"There is no way called {name}.", nameof(name));
        return parts.Length == 1 ? way : way.WithBudget(int.Parse(parts[1], CultureInfo.InvariantCulture));
    }

    /// <summary>Returns this way with a budget, where jobs reserve what they take; otherwise this way.</summary>
    public MemoryWay WithBudget(int megabytes) => Reserves == JobReservation.None ? this : this with
    {
        Name = $"{Name}{BudgetMark}{megabytes}",
        Title = $"{Title.Replace(", no number", "", StringComparison.Ordinal)}, budget {megabytes}",
        BudgetMegabytes = megabytes,
        CreateStore = (_, trim) => Store(new() { TrimPeriod = trim, MemoryBudgetMegabytes = megabytes }, Reserves),
    };

    public static int Budget(int limitMegabytes) => Math.Max(32, (int)(CalmShare * limitMegabytes) - RuntimeMegabytes);

    /// <summary>Returns how much is to stay free in a container of <paramref name="limitMegabytes"/>, in MiB.</summary>
    public static int Free(int limitMegabytes) => Math.Max(16, (int)(FreeShare * limitMegabytes));

    /// <summary>Returns what <c>AddMemoryAllocator</c> leaves free in such a container where no limit is set, in MiB.</summary>
    public static int DefaultFree(int limitMegabytes) => Math.Max(32, limitMegabytes / 5);

    private static MemoryWay Reserving(
        string name, string title, JobReservation reserves, Func<int, int> free, SurvivalClaim claim) => new(
        name, title, (limit, trim) => Store(new() { TrimPeriod = trim, MinimumFreeMegabytes = free(limit) }, reserves), claim)
        {
            Reserves = reserves,
        };

    private static BlockStore Store(MemoryAllocatorOptions options, JobReservation reserves = JobReservation.None)
        => new(options, reserves);
}
