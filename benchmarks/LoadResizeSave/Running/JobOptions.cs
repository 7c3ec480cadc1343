using System;
using System.Collections.Generic;
using LoadResizeSave.Pixels;

namespace LoadResizeSave.Running;

/// <summary>What the user asked for, checked.</summary>
internal sealed record JobOptions
{
    /// <summary>Gets the folder of pictures; null: synthetic photographs are made first.</summary>
    public string? Input { get; init; }

    /// <summary>Gets the folder for results and the chart.</summary>
    public required string Output { get; init; }

    /// <summary>Gets the folder for the photographs that are made, and for what is saved.</summary>
    public required string Work { get; init; }

    /// <summary>Gets where the chart goes.</summary>
    public required string Chart { get; init; }

    /// <summary>Gets the allocators to compare, in this order.</summary>
    public required IReadOnlyList<AllocatorKind> Allocators { get; init; }

    /// <summary>Gets how many runs are made with each allocator.</summary>
    public int Runs { get; init; } = 1;

    /// <summary>Gets how many pictures are worked on at once.</summary>
    public required int Parallelism { get; init; }

    /// <summary>Gets all the numbers of pictures at once that are tried in each memory limit.</summary>
    public IReadOnlyList<int> Parallelisms { get => field ?? [Parallelism]; init; }

    /// <summary>Gets the memory cgroups that the job is run in, in MiB; empty: it runs in none.</summary>
    public IReadOnlyList<int> MemoryLimits { get; init; } = [];

    /// <summary>Gets what the allocator with a budget may hold, in MiB; null: what a memory limit leaves.</summary>
    public int? BudgetMegabytes { get; init; }

    /// <summary>Gets whether a child keeps still after its work, to show what becomes of idle memory.</summary>
    public bool WatchesIdle { get; init; } = true;

    /// <summary>Gets how often the folder is gone through.</summary>
    public required int Repeat { get; init; }

    /// <summary>Gets the width of what is saved; narrower pictures keep theirs.</summary>
    public required int Width { get; init; }

    /// <summary>Gets the largest picture that is decoded, in millions of pixels.</summary>
    public required int MaximumMegapixels { get; init; }

    /// <summary>Gets how often the pool looks at its idle memory.</summary>
    public required TimeSpan TrimPeriod { get; init; }

    /// <summary>Gets how many synthetic photographs are made.</summary>
    public required int SyntheticCount { get; init; }

    /// <summary>Gets the size of each synthetic photograph in millions of pixels; null: sizes of real cameras and screens.</summary>
    public double? SyntheticMegapixels { get; init; }

    /// <summary>Gets whether libjpeg-turbo may be used.</summary>
    public required bool UseLibjpeg { get; init; }

    /// <summary>Gets whether this process is a child that measures one allocator.</summary>
    public bool IsChild { get; init; }
}
