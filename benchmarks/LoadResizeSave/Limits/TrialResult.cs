namespace LoadResizeSave.Limits;

/// <summary>How a trial ended, and what it took.</summary>
internal sealed record TrialResult
{
    public required JobTrial Trial { get; init; }

    /// <summary>Gets what the job found; null where it did not come to its end.</summary>
    public MeasuredRun? Run { get; init; }

    public string? Failure { get; init; }

    public bool WasKilled { get; init; }

    /// <summary>Gets the most that was charged to the group, cached files included; null where the kernel does not tell.</summary>
    public long? PeakBytes { get; init; }

    /// <summary>
    /// Gets the processor time of a pass in seconds, on average over all but the first, in which memory and code are new.
    /// </summary>
    public double? CpuSecondsOfPass => Average(pass => (pass.Cost.UserTime + pass.Cost.SystemTime).TotalSeconds);

    public double? PageFaultsOfPass => Average(pass => pass.Cost.MinorFaults + pass.Cost.MajorFaults);

    public double? PicturesPerSecond => Average(pass => pass.Pictures / pass.WallSeconds);

    /// <summary>Says in a word or two how it ended; <paramref name="pictures"/> is how many there are to be saved.</summary>
    public string Outcome(int pictures) => this switch
    {
        { WasKilled: true } => "killed",
        { Run: null } => "failed",
        { Run.Pictures: var saved } when saved < pictures => $"{pictures - saved} of {pictures} refused",
        _ => "finished",
    };

    private double? Average(System.Func<MeasuredPass, double?> figure)
        => Run is null ? null : Run.Passes.Skip(Run.Passes.Count > 1 ? 1 : 0).Average(figure);
}
