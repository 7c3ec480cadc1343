namespace Measurements.Settings;

/// <summary>What the environment variables of glibc's malloc and of .NET's collector do to the memory of a process.</summary>
internal static class SettingsCommand
{
    private static readonly Option<int> s_milliseconds =
        new Option<int>("--milliseconds") { Description = "Length of a run with malloc.", DefaultValueFactory = _ => 5000 }.AtLeast(1);

    private static readonly Option<int> s_jobs =
        new Option<int>("--jobs") { Description = "Jobs with arrays in each run.", DefaultValueFactory = _ => 100 }.AtLeast(1);

    private static readonly Option<int> s_runs =
        new Option<int>("--runs") { Description = "Runs of each setting.", DefaultValueFactory = _ => 3 }.AtLeast(1);

    private static readonly Option<int> s_native =
        new Option<int>("--native") { Description = "MiB of native memory beside the arrays.", DefaultValueFactory = _ => 128 }.AtLeast(0);

    public static Command Create()
        => new Command("settings", "Measures what settings of malloc and of the collector do to the memory of a process.")
    {
        s_milliseconds, s_jobs, s_runs, s_native,
    }.Measures("ProcessSettings", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        int runs = run.Get(s_runs, 1);
        List<ResultTable> tables = [];
        List<string> notes =
        [
            "Each run is a process of its own, with only these variables set of those that glibc and the collector read; figures "
                + "are medians of the runs, settings of malloc take turns.",
            "malloc: each thread writes to every page of a block and frees it when it has allocated three more; sizes are evenly "
                + "spread. It also has 16 small blocks of 1 KB, one for each of the last 16 large ones. "
                + "Threads live on when all is freed. Resident memory is above that before the first allocation. "
                + "Trim: malloc_trim(0), through NativeHeap.TryTrim.",
            "Arrays: a job has a picture of 8 to 15 megapixels of 3 bytes, a small one of a sixteenth, a file of a twelfth, and "
                + "1000 rows of 16 KB, all in new arrays. "
                + "Values of variables of the collector are hexadecimal: 32 is 50 %, 28 is 40 %, 1E is 30 %. "
                + "Refused: OutOfMemoryException.",
        ];
        if (OperatingSystem.IsLinux())
        {
            tables.Add(MallocQuestion.Measure(run.Get(s_milliseconds, 200), runs, run.Console.WriteLine));
        }

        try
        {
            ArrayQuestion arrays = new(run.Get(s_jobs, 6), runs, run.Console.WriteLine);
            tables.Add(arrays.Measure(nativeMegabytes: 0));
            tables.Add(arrays.Measure(run.Get(s_native)));
        }
        catch (CgroupUnavailableException exception)
        {
            notes.Add($"Arrays were not measured: {exception.Message}");
        }

        const string Title = "Settings of a process: what malloc and the collector keep";
        return run.NewDocument(Title) with { Tables = tables, Notes = notes };
    }
}
