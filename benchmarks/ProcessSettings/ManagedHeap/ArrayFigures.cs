namespace ProcessSettings.ManagedHeap;

/// <summary>What one child measured of jobs that work in new arrays.</summary>
internal sealed record ArrayFigures
{
    /// <summary>Gets the jobs that were done.</summary>
    public required int Done { get; init; }

    /// <summary>Gets the jobs that ended with <c>OutOfMemoryException</c>.</summary>
    public required int Refused { get; init; }

    /// <summary>Gets how long all took, in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>Gets the processor time, in seconds.</summary>
    public required double ProcessorSeconds { get; init; }

    /// <summary>Gets the median of the resident memory meanwhile, in bytes.</summary>
    public required double Running { get; init; }

    /// <summary>Gets the most, in bytes.</summary>
    public required double Peak { get; init; }

    /// <summary>Gets what was resident two seconds after the last job, in bytes.</summary>
    public required double Idle { get; init; }

    /// <summary>Gets the collections of all generations.</summary>
    public required int Gen2 { get; init; }
}
