using LoadResizeSave.Containers;

namespace LoadResizeSave.Survival;

/// <summary>The command that asks which ways of having memory survive in a container.</summary>
internal sealed class SurvivalCommand
{
    private readonly Option<string?> _input = ContainerOptions.Input();
    private readonly Option<string?> _output = ContainerOptions.Output();
    private readonly Option<string[]> _ways = ContainerOptions.Ways(ContainerOptions.All);
    private readonly Option<int[]> _limits = ContainerOptions.Numbers("--limits", "MiB of the containers.", [256, 350, 512], least: 64);
    private readonly Option<int[]> _atOnce = ContainerOptions.Numbers("--at-once", "Jobs at once.", [2, 4, 16, 64]);
    private readonly Option<int?> _jobs = new Option<int?>("--jobs")
    {
        Description = "Jobs of a run. [default: as many as run at once, at least 24]",
    }.AtLeast(1);

    private readonly Option<int> _runs = ContainerOptions.Number("--runs", "Runs of each cell.", 3);
    private readonly Option<int> _claimRuns = ContainerOptions.Number("--claim-runs", "Runs of this library's ways.", 20);

    private readonly Option<double> _minutes = ContainerOptions.Minutes();
    private readonly Option<bool> _keepMalloc = ContainerOptions.KeepMalloc();
    private readonly Option<bool> _explain = new("--explain") { Description = "Say of each run who held its memory when it was most." };
    private readonly Option<bool> _quick = ContainerOptions.Quick();

    public SurvivalCommand()
    {
        Command = new("survive", "Makes photographs smaller in memory cgroups, with each way of having memory, and says who was killed.")
        {
            _input, _output, _ways, _limits, _atOnce, _jobs, _runs, _claimRuns, _minutes, _keepMalloc, _explain, _quick,
        };
        ContainerOptions.Measures(Command, "LoadResizeSave-survival", _output, (parsed, console, empty, folder, cancellationToken) =>
            new SurvivalMeasurement(Read(parsed), console).RunAsync(empty, folder, cancellationToken));
    }

    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run is a small one wherever nothing else was.</summary>
    public SurvivalLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        return new SurvivalLoad
        {
            Input = ContainerOptions.GetInput(parsed, _input),
            Ways = ContainerOptions.GetWays(parsed.GetRequiredValue(_ways)),
            Limits = ContainerOptions.Get(parsed, _limits, quick, [350]),
            AtOnce = ContainerOptions.Get(parsed, _atOnce, quick, [16]),
            Jobs = ContainerOptions.Get(parsed, _jobs, quick, 16),
            Runs = ContainerOptions.Get(parsed, _runs, quick, 1),
            ClaimRuns = ContainerOptions.Get(parsed, _claimRuns, quick, 1),
            Time = TimeSpan.FromMinutes(parsed.GetValue(_minutes)),
            KeepsMalloc = parsed.GetValue(_keepMalloc),
            Explains = parsed.GetValue(_explain),
        };
    }
}
