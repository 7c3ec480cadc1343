namespace Measurements.Fragmentation;

/// <summary>Fragments the heap on purpose, and looks what the process then occupies, for memory of the heap and of this library.</summary>
internal static class FragmentationCommand
{
    private const int Blocks = 100;
    private const int QuickBlocks = 20;

    private static readonly SubjectKind[] s_churned =
        [SubjectKind.Unaligned, SubjectKind.Aligned, SubjectKind.Discontiguous, SubjectKind.Contiguous];

    private static readonly SubjectKind[] s_burst =
        [SubjectKind.Discontiguous, SubjectKind.Classic, SubjectKind.Unaligned, SubjectKind.Aligned];

    private static readonly Option<int> s_iterations =
        new Option<int>("--iterations") { Description = "Iterations of each pattern.", DefaultValueFactory = _ => 8000 }.AtLeast(1);

    private static readonly Option<int> s_limit = new Option<int>("--limit-megabytes")
    {
        Description = "Resident set at which a pattern is ended; a quarter of the memory where that is less.",
        DefaultValueFactory = _ => 1024,
    }.AtLeast(1);

    private static readonly Option<int> s_seed =
        new("--seed") { Description = "Seed of the sizes and of the order of releases.", DefaultValueFactory = _ => 15526 };

    public static Command Create() => new Command(
        "fragmentation", "Allocates and releases images of many sizes between small allocations that stay, and shows what the "
            + "process then occupies.")
    {
        s_iterations, s_limit, s_seed,
    }.Measures("Fragmentation", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        ResultDocument document = run.NewDocument("Fragmentation: what stays resident when images come and go");
        int iterations = run.Get(s_iterations, 100);
        long limit = Math.Min((long)run.Get(s_limit, 192) << 20, document.Machine.MemoryBytes / 4);
        List<string> notes =
        [
            "MB are millions of bytes. Each column is a process of its own; start is taken after a warm-up, end with the live images "
                + "still held. "
                + "Every page of every image is written to.",
            "Raw unaligned: malloc. Raw aligned: NativeMemory.AlignedAlloc(64). Pixels: AllocatePixels of this library with default "
                + "options. "
                + "Small allocations: malloc, in all columns.",
        ];
        List<ChurnReport> reports = [];
        foreach (ChurnPattern pattern in ChurnPattern.All)
        {
            foreach (SubjectKind kind in s_churned)
            {
                string name = MemorySubject.NameOf(kind);
                run.Console.WriteLine($"{pattern.Name}: {name} ...");
                ChurnReport report = ChurnRun.Task.Run(new ChurnRequest(pattern.Name, kind, iterations, limit, run.Get(s_seed)));
                reports.Add(report);
                if (report.Iterations < iterations / pattern.Threads * pattern.Threads)
                {
                    notes.Add($"{pattern.Name}, {name}: ended after {report.Iterations} of {iterations} iterations, at "
                            + $"{report.End / 1e6:N0} MB "
                        + Invariant($"resident with {report.LiveBytes / 1e6:0.0} MB live; the limit was {limit / 1e6:N0} MB."));
                }
            }
        }

        List<BurstReport> bursts = [];
        foreach (SubjectKind kind in s_burst)
        {
            run.Console.WriteLine($"bursts: {MemorySubject.NameOf(kind)} ...");
            bursts.Add(BurstRun.Task.Run(new BurstRequest(kind, run.IsQuick ? QuickBlocks : Blocks)));
        }

        notes.Add(
            "Released: ReleaseRetainedResources, and its like in the model. .NET has no such call for the heap: "
            + "its rows show what returning alone gives back. Trimmed: after the last wave malloc_trim was called in each process "
            + "(NativeHeap.TryTrim).");
        notes.Add(
            "What this library keeps idle is there for the next image; half of it goes at the end of each trim period, a minute by "
                + "default, "
            + "and all of it when asked to.");
        var patterns = ChurnPattern.All.Select(
            pattern => (Pattern: pattern, Reports: reports.FindAll(report => report.Pattern == pattern.Name)));
        return document with
        {
            Tables =
            [
                ChurnTable.Summary(reports),
                BurstTable.Create(bursts),
            ],
            Charts = [.. patterns.Select(one => ChurnTable.Chart(one.Pattern, one.Reports)), BurstTable.Chart(bursts)],
            Notes = notes,
        };
    }
}
