namespace LoadResizeSave.Running;

/// <summary>What the user asked for, checked; with one allocator, what a child is to do.</summary>
internal sealed record JobOptions
{
    /// <summary>The width of what is saved; narrower pictures keep theirs.</summary>
    public const int Width = 800;

    /// <summary>Gets the folder of pictures; null: synthetic photographs are made first.</summary>
    public string? Input { get; init; }

    /// <summary>Gets the folder for the photographs that are made, and for what is saved.</summary>
    public required string Work { get; init; }

    public required IReadOnlyList<AllocatorKind> Allocators { get; init; }

    public int Runs { get; init; } = 1;

    public required int Parallelism { get; init; }

    public required int Repeat { get; init; }

    public required TimeSpan TrimPeriod { get; init; }

    public required int SyntheticCount { get; init; }

    /// <summary>Gets the size of each synthetic photograph in millions of pixels; null: sizes of real cameras and screens.</summary>
    public double? SyntheticMegapixels { get; init; }

    public string SavedFolder => Path.Combine(Work, "saved");

    /// <summary>Returns why the input cannot be read, or null where it can, or where there is none.</summary>
    public string? WhyNotToRead() => Input switch
    {
        null => null,
        _ when !Directory.Exists(Input) => $"There is no folder {Input}.",
        _ when Path.TrimEndingDirectorySeparator(Input) == SavedFolder
            || Input.StartsWith(SavedFolder + Path.DirectorySeparatorChar, StringComparison.Ordinal)
            => $"{Input} is where pictures are saved: they would be written over while they are read.",
        _ => null,
    };
}
