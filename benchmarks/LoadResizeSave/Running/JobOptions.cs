namespace LoadResizeSave.Running;

/// <summary>What the user asked for, checked; with one allocator and one parallelism, what a child is to do.</summary>
internal sealed record JobOptions
{
    /// <summary>The width of what is saved; narrower pictures keep theirs.</summary>
    public const int Width = 800;

    /// <summary>Gets the folder of pictures; null: synthetic photographs are made first.</summary>
    public string? Input { get; init; }

    public required string Output { get; init; }

    /// <summary>Gets the folder for the photographs that are made, and for what is saved.</summary>
    public required string Work { get; init; }

    public required IReadOnlyList<AllocatorKind> Allocators { get; init; }

    public int Runs { get; init; } = 1;

    public required IReadOnlyList<int> Parallelisms { get; init; }

    /// <summary>Gets the memory cgroups that the job is run in, in MiB; empty: it runs in none.</summary>
    public IReadOnlyList<int> MemoryLimits { get; init; } = [];

    /// <summary>Gets what the allocator with a budget may hold, in MiB.</summary>
    public int? BudgetMegabytes { get; init; }

    /// <summary>Gets whether a child keeps still after its work, to show what becomes of idle memory.</summary>
    public bool WatchesIdle { get; init; } = true;

    public required int Repeat { get; init; }

    public required TimeSpan TrimPeriod { get; init; }

    public required int SyntheticCount { get; init; }

    /// <summary>Gets the size of each synthetic photograph in millions of pixels; null: sizes of real cameras and screens.</summary>
    public double? SyntheticMegapixels { get; init; }

    public int Parallelism => Parallelisms[0];

    public string SavedFolder => Path.Combine(Work, "saved");

    /// <summary>Gets where the chart of memory over time goes: with several runs it lies beside their results.</summary>
    public string Chart => Path.Combine(Output, Runs > 1 ? "LoadResizeSave-memory.svg" : "memory.svg");
}
