namespace Measurements.Settings;

/// <summary>What the variables of .NET's collector do to a process in a container that works in arrays.</summary>
internal sealed class ArrayQuestion(int jobs, int runs, Action<string> report)
{
    public const int LimitMegabytes = 350;

    public const int Workers = 2;

    private const double Megabyte = 1e6;

    // Values are hexadecimal: 28 is 40 %, 4 and 9 are levels from 0 to 9.
    private static readonly Setting[] s_settings =
    [
        new(null),
        new("DOTNET_GCHeapHardLimitPercent=32"),
        new("DOTNET_GCHeapHardLimitPercent=28"),
        new("DOTNET_GCHeapHardLimitPercent=1E"),
        new("DOTNET_GCConserveMemory=5"),
        new("DOTNET_GCConserveMemory=9"),
        new("DOTNET_GCHeapHardLimitPercent=28 DOTNET_GCConserveMemory=9"),
    ];

    /// <summary>Measures all settings beside <paramref name="nativeMegabytes"/> of native memory.</summary>
    public ResultTable Measure(int nativeMegabytes)
    {
        string beside = nativeMegabytes == 0 ? "nothing else" : $"{nativeMegabytes} MiB of native memory in use";
        return new ResultTable
        {
            Title = $"Arrays: {jobs} jobs, {Workers} at a time, in a memory cgroup of {LimitMegabytes} MiB, beside {beside}",
            Labels = ["environment"],
            Columns =
            [
                new("runs", null, "0"), new("killed", null, "0"), new("jobs refused", "a run", "0.0"), new("resident, median", "MB", "0"),
                new("resident, most", "MB", "0"), new("2 s afterwards", "MB", "0"), new("collections", "gen 2", "0"),
                new("time", "s", "0.0"), new("processor time", "s", "0.0"),
            ],
            Rows = [.. s_settings.Select(setting => Row(setting, nativeMegabytes))],
        };
    }

    private ResultRow Row(Setting setting, int nativeMegabytes)
    {
        List<ArrayFigures> survived = [];
        int killed = 0;
        for (int run = 0; run < runs; run++)
        {
            report($"arrays beside {nativeMegabytes} MiB, {setting.Name} ...");
            using MemoryCgroup group = MemoryCgroup.Create((long)LimitMegabytes << 20);
            try
            {
                survived.Add(ArrayRun.Task.Run(new ArrayRequest(jobs, Workers, nativeMegabytes), start =>
                {
                    setting.Apply(start);
                    group.Wrap(start);
                }));
            }
            catch (ChildFailedException) when (group.Kills > 0)
            {
                killed++;
            }
        }

        return new ResultRow(
            [setting.Name],
            [
                runs, killed, Figure(one => one.Refused), Figure(one => one.Running) / Megabyte, Figure(one => one.Peak) / Megabyte,
                Figure(one => one.Idle) / Megabyte, Figure(one => one.Gen2), Figure(one => one.Seconds),
                Figure(one => one.ProcessorSeconds),
            ]);

        double? Figure(Func<ArrayFigures, double> figure) => survived.Count == 0 ? null : Statistics.Median(survived.Select(figure));
    }
}
