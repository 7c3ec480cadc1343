namespace Measurements.Retention;

/// <summary>
/// What malloc keeps of what codecs took, with glibc, with its threshold fixed, and with musl, and whether a container survives it. The
/// program is <c>retention.c</c>, which is built with both C libraries: no figure of it depends on .NET.
/// </summary>
internal static partial class RetentionCommand
{
    private const string TurboJpeg = "/usr/lib/x86_64-linux-gnu/libturbojpeg.so.0";
    private const double Megabyte = 1 << 20;

    // Sixteen threads, two at work at a time, two jobs each; then what the next work needs.
    private const int Threads = 16;
    private const int AtOnce = 2;
    private const int Rounds = 2;
    private const int ThenMegabytes = 150;

    private static readonly Option<int> s_runs =
        new Option<int>("--runs") { Description = "Processes of each kind.", DefaultValueFactory = _ => 5 }.AtLeast(1);

    private static readonly Option<int> s_limit =
        new Option<int>("--limit") { Description = "The container's limit in MiB.", DefaultValueFactory = _ => 200 }.AtLeast(64);

    // A photograph of 4 megapixels has 12 MB of coefficients; 400 blocks are 20 MB.
    private static readonly (string Name, string Kind, int Size, int QuickSize)[] s_works =
    [
        ("progressive JPEG, libjpeg-turbo", "jpeg", 2000, 600), ("blocks of 4 to 100 KB", "blocks", 400, 50),
    ];

    private static readonly (string Name, bool IsMusl, string? Variable, string? Value)[] s_libraries =
    [
        ("glibc", false, null, null), ("glibc, threshold of 1 MiB", false, "MALLOC_MMAP_THRESHOLD_", "1048576"),
        ("glibc, two arenas", false, "MALLOC_ARENA_MAX", "2"), ("musl", true, null, null),
    ];

    public static Command Create() => new Command(
        "retention", "Measures what glibc's malloc and musl's keep of what codecs took, and whether a container survives it.")
    {
        s_runs, s_limit,
    }.Measures("MallocRetention", Measure);

    private static ResultDocument? Measure(MeasurementRun run)
    {
        string folder = Path.GetFullPath(Path.Combine("artifacts", "retention"));
        if (TryBuild(folder) is string complaint)
        {
            run.Console.WriteLine($"Not measured: {complaint}");
            return null;
        }

        int runs = run.Get(s_runs, 1);
        long limit = run.Get(s_limit) * (1L << 20);
        int[] sizes = [.. s_works.Select(work => run.IsQuick ? work.QuickSize : work.Size)];
        List<ResultRow> rows = [];
        foreach (((string name, string kind, _, _), int size) in s_works.Zip(sizes))
        {
            foreach ((string library, bool isMusl, string? variable, string? value) in s_libraries)
            {
                List<Outcome> free = [];
                int killed = 0;
                for (int i = 0; i < runs; i++)
                {
                    ProcessStartInfo start = new(
                        Path.Combine(folder, isMusl ? "musl" : "glibc"),
                        [kind, $"{size}", $"{Threads}", $"{AtOnce}", $"{Rounds}", $"{ThenMegabytes}"]);
                    ChildProgram.ForgetMemorySettings(start);
                    if (variable is not null)
                    {
                        start.Environment[variable] = value;
                    }

                    free.Add(Outcome.Of(Run(start, limit: null).Output));
                    killed += Run(start, limit).IsKilled ? 1 : 0;
                }

                rows.Add(new ResultRow(
                    [name, library],
                    [
                        killed, Median(free, static outcome => outcome.Most), Median(free, static outcome => outcome.Kept),
                        Median(free, static outcome => outcome.KeptAfterTrim),
                    ]));
            }
        }

        return run.NewDocument("What malloc keeps of what codecs took: glibc and musl") with
        {
            Tables =
            [
                new ResultTable
                {
                    Title = Invariant($"{Threads} threads, {AtOnce} of them at work at a time"),
                    Labels = ["work", "C library"],
                    Columns =
                    [
                        new(Invariant($"killed of {runs} in {limit >> 20} MiB"), null, "0"), new("resident, most", "MB", "0"),
                        new("kept when all is freed", "MB", "0.0"), new("kept after malloc_trim", "MB", "0.0"),
                    ],
                    Rows = rows,
                },
            ],
            Notes =
            [
                Invariant($"A program in C, {Rounds} jobs a thread. The jobs' memory is freed, and then {ThenMegabytes} MB are ")
                    + "written, as the next work would. Killed: by the kernel, in a memory cgroup of that limit. The other columns are "
                    + "medians of runs without a limit; kept is what is resident beyond the start.",
                Invariant($"JPEG: {sizes[0]} x {sizes[0]}, 4:2:0. Pixels and files lie in mapped memory, as pooled memory does, so that ")
                    + Invariant($"malloc has only what the codec takes. Blocks: {sizes[1]} a job, all freed; a block of 100 bytes beside ")
                    + "each tenth stays.",
                "musl has no malloc_trim and no thresholds. It maps each allocation from 128 KiB on by itself, and unmaps groups of "
                    + "smaller ones when the last of a group is freed.",
                "musl 1.2.3 of Debian 12, with Debian's libturbojpeg, which runs over musl by tests/platforms/coreclr/musl-glibc.c.",
            ],
        };
    }

    // Returns why not, or null.
    private static string? TryBuild(string folder)
    {
        string sources = AppContext.BaseDirectory;
        string libraries = Path.Combine(folder, "lib");
        string shim = Path.Combine(libraries, "ld-linux-x86-64.so.2");
        if (!File.Exists(TurboJpeg))
        {
            return $"{TurboJpeg} is not installed.";
        }

        Directory.CreateDirectory(libraries);
        string codec = Path.Combine(libraries, Path.GetFileName(TurboJpeg));
        File.Copy(TurboJpeg, codec, overwrite: true);
        string source = Path.Combine(sources, "retention.c");
        try
        {
            ChildProgram.Run(new("cc", ["-O2", "-pthread", "-o", Path.Combine(folder, "glibc"), source, TurboJpeg]));
            ChildProgram.Run(new(
                "musl-gcc",
                [
                    "-shared", "-fPIC", "-O2", $"-Wl,-soname,{Path.GetFileName(shim)}", "-o", shim, Path.Combine(sources, "musl-glibc.c"),
                ]));
            ChildProgram.Run(new(
                "musl-gcc",
                [
                    "-O2", "-o", Path.Combine(folder, "musl"), source, codec, $"-Wl,-rpath,{libraries}", "-Wl,--no-as-needed", shim,
                    "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                ]));
            return MemoryCgroup.WhyUnavailable();
        }
        catch (ChildFailedException exception)
        {
            return exception.Message;
        }
    }

    private static (string Output, bool IsKilled) Run(ProcessStartInfo described, long? limit)
    {
        ProcessStartInfo start = new(described.FileName, described.ArgumentList);
        ChildProgram.ForgetMemorySettings(start);
        foreach ((string name, string? value) in described.Environment)
        {
            start.Environment[name] = value;
        }

        using MemoryCgroup group = MemoryCgroup.Create(limit);
        group.Wrap(start);
        using Process process = ChildProgram.Start(start);
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        bool isKilled = group.Kills > 0;
        return process.ExitCode == 0 || isKilled
            ? (output, isKilled)
            : throw new ChildFailedException($"{start.FileName}: exit code {process.ExitCode}. {errors.Result}");
    }

    private static double? Median(List<Outcome> outcomes, Func<Outcome, long?> select)
    {
        long?[] values = [.. outcomes.Select(select)];
        return values.Contains(null) ? null : Statistics.Median(values.Select(static value => value!.Value / Megabyte));
    }

    // What the program printed, in bytes.
    private sealed record Outcome(long Most, long Kept, long? KeptAfterTrim)
    {
        public static Outcome Of(string output)
        {
            Dictionary<string, long> figures = FigureLine().Matches(output).ToDictionary(
                static match => match.Groups[1].Value, static match => long.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture));
            long before = figures["before"];
            return new Outcome(
                figures["most"],
                Math.Max(0, figures["after"] - before),
                figures.TryGetValue("trimmed", out long trimmed) ? Math.Max(0, trimmed - before) : null);
        }
    }

    [GeneratedRegex("^([a-z]+) ([0-9]+)$", RegexOptions.Multiline)]
    private static partial Regex FigureLine();
}
