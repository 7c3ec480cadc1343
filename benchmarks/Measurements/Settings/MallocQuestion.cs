namespace Measurements.Settings;

/// <summary>What the variables of glibc do to what malloc keeps.</summary>
internal static class MallocQuestion
{
    private const double Megabyte = 1e6;

    private static readonly Setting[] s_settings =
    [
        new(null),
        new("MALLOC_MMAP_THRESHOLD_=1048576"),
        new("MALLOC_MMAP_THRESHOLD_=131072"),
        new("MALLOC_TRIM_THRESHOLD_=131072"),
        new("MALLOC_ARENA_MAX=2"),
        new("MALLOC_ARENA_MAX=1"),
        new("MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576"),
        new("MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072"),
    ];

    /// <summary>Runs each setting <paramref name="runs"/> times, in turn, and returns the medians.</summary>
    public static ResultTable Measure(int milliseconds, int runs, Action<string> report)
    {
        Dictionary<Setting, List<MallocFigures>> figures = s_settings.ToDictionary(setting => setting, _ => new List<MallocFigures>());
        for (int run = 0; run < runs; run++)
        {
            foreach (Setting setting in s_settings)
            {
                report($"malloc, {setting.Name} ...");
                figures[setting].Add(MallocRun.Task.Run(milliseconds, setting.Apply));
            }
        }

        return new ResultTable
        {
            Title = $"malloc: {MallocRun.Threads} threads, each with {MallocRun.Held} blocks of 64 KB to 6 MB at a time; resident memory",
            Labels = ["environment"],
            Columns =
            [
                new("live, mean", "MB", "0"), new("running, median", "MB", "0"), new("running, most", "MB", "0"),
                new("freed but for small ones", "MB", "0"), new("all freed", "MB", "0"),
                new("trimmed", "MB", "0"), new("trim", "ms", "0.0"), new("processor time", "µs an allocation", "0"),
            ],
            Rows =
            [
                .. from setting in s_settings
                   let all = figures[setting]
                   select new ResultRow(
                       [setting.Name],
                       [
                           Median(all, one => one.LiveBytes) / Megabyte, Median(all, one => one.Running) / Megabyte,
                           Median(all, one => one.Peak) / Megabyte, Median(all, one => one.LargeFreed) / Megabyte,
                           Median(all, one => one.Freed) / Megabyte,
                           Median(all, one => one.Trimmed) / Megabyte, Median(all, one => one.TrimMilliseconds),
                           Median(all, one => one.ProcessorMicroseconds),
                       ]),
            ],
        };
    }

    private static double Median(List<MallocFigures> all, Func<MallocFigures, double> figure) => Statistics.Median(all.Select(figure));
}
