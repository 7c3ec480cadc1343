namespace ProcessSettings.NativeHeap;

/// <summary>What one child measured of malloc. Resident memory is above that before the first allocation, in bytes.</summary>
internal sealed record MallocFigures
{
    /// <summary>Gets the mean of what the threads held.</summary>
    public required double LiveBytes { get; init; }

    /// <summary>Gets the median while they ran.</summary>
    public required double Running { get; init; }

    /// <summary>Gets the most while they ran.</summary>
    public required double Peak { get; init; }

    /// <summary>Gets what was left when all but the small blocks was freed.</summary>
    public required double LargeFreed { get; init; }

    /// <summary>Gets what was left when all was freed.</summary>
    public required double Freed { get; init; }

    /// <summary>Gets what was left after a trim.</summary>
    public required double Trimmed { get; init; }

    /// <summary>Gets how long the trim took, in milliseconds.</summary>
    public required double TrimMilliseconds { get; init; }

    /// <summary>Gets the processor time of an allocation, the writing to it and its release, in microseconds.</summary>
    public required double ProcessorMicroseconds { get; init; }
}
