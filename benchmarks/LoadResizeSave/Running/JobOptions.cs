namespace LoadResizeSave.Running;

/// <summary>What the user asked for, checked.</summary>
internal sealed record JobOptions
{
    /// <summary>Gets the folder of pictures; null: synthetic photographs are made first.</summary>
    public string? Input { get; init; }

    public required string Output { get; init; }

    /// <summary>Gets the folder for the photographs that are made, and for what is saved.</summary>
    public required string Work { get; init; }

    public required string Chart { get; init; }

    public required IReadOnlyList<AllocatorKind> Allocators { get; init; }

    public int Runs { get; init; } = 1;

    public required int Parallelism { get; init; }

    public IReadOnlyList<int> Parallelisms { get => field ?? [Parallelism]; init; }

    /// <summary>Gets the memory cgroups that the job is run in, in MiB; empty: it runs in none.</summary>
    public IReadOnlyList<int> MemoryLimits { get; init; } = [];

    /// <summary>Gets what the allocator with a budget may hold, in MiB; null: what a memory limit leaves.</summary>
    public int? BudgetMegabytes { get; init; }

    /// <summary>Gets whether a child keeps still after its work, to show what becomes of idle memory.</summary>
    public bool WatchesIdle { get; init; } = true;

    public required int Repeat { get; init; }

    /// <summary>Gets the width of what is saved; narrower pictures keep theirs.</summary>
    public required int Width { get; init; }

    /// <summary>Gets the largest picture that is decoded, in millions of pixels.</summary>
    public required int MaximumMegapixels { get; init; }

    public required TimeSpan TrimPeriod { get; init; }

    public required int SyntheticCount { get; init; }

    /// <summary>Gets the size of each synthetic photograph in millions of pixels; null: sizes of real cameras and screens.</summary>
    public double? SyntheticMegapixels { get; init; }

    public required bool UseLibjpeg { get; init; }

    public bool IsChild { get; init; }
}
