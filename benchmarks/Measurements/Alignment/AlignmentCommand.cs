namespace Measurements.Alignment;

/// <summary>
/// Checks that every way of allocating aligns as it promises, and times them, twice and as built in Debug and in Release.
/// </summary>
internal static class AlignmentCommand
{
    private static readonly string s_other = Sweep.Configuration == "Debug" ? "Release" : "Debug";

    private static readonly Option<FileInfo> s_otherBuild = new Option<FileInfo>("--other-build")
    {
        Description = $"This program as built in {s_other} (Measurements.dll); that beside this one unless given.",
    }.AcceptExistingOnly();

    public static Command Create() => new Command(
        "alignment", "Checks the alignment of 200 buffers for each way of allocating, and times allocation and release over image sizes.")
    {
        s_otherBuild,
    }.Measures("AlignedAllocation", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        run.Console.WriteLine("checking alignment ...");
        ResultTable checks = AlignmentCheck.Run(run.Failures);
        List<string> notes =
        [
            "Native: NativeMemory.AlignedAlloc(64). Over-allocated: malloc of 72 bytes more, the address rounded up, the heap's own "
                + "kept in the word "
                + "below.",
            "Pool, aligned: AllocateAligned(64); up to 1 MiB that is memory from the system each time, as its documentation says. "
                + "Pool, Allocate: ArrayPool up to 1 MiB, blocks above.",
            $"A sweep allocates and releases one buffer of each of {Sweep.SizeCount} image sizes, 24 × 24 to 7680 × 4320, in turn; "
                + "times are medians, divided by that number.",
        ];
        SweepRequest request = run.IsQuick ? new(3, 1, 1, 0.2) : new(60, 50, Sweep.PixelTypes.Count, 3);
        List<SweepPair> builds = [RunTwice(run, ChildProgram.ThisProgram, request)];
        MeasureOther(run, request with { TouchedTypes = 0 }, builds, notes);
        notes.Add(
            $"{request.Samples} samples of each untouched time and {request.TouchedSamples} of each touched one, all ways in turn in "
                + "each round; "
            + "run 1 and run 2 are two processes.");
        SweepTables tables = new(builds);
        return run.NewDocument("Aligned allocation: is it aligned, and what does it cost?") with
        {
            Tables = [checks, tables.AsInTheDocument(), tables.OfAllWays(touched: false), tables.OfAllWays(touched: true)],
            Charts = [tables.Chart(touched: false), tables.Chart(touched: true)],
            Notes = notes,
        };
    }

    // A switch that has the just-in-time compiler leave optimisation out would not be the same: a Debug build is other code, of the
    // library too.
    private static void MeasureOther(MeasurementRun run, SweepRequest request, List<SweepPair> builds, List<string> notes)
    {
        string beside = Path.Combine(AppContext.BaseDirectory, "..", s_other.ToLowerInvariant(), "Measurements.dll");
        string program = run.Get(s_otherBuild)?.FullName ?? Path.GetFullPath(beside);
        if (!File.Exists(program))
        {
            notes.Add($"{s_other} is missing. Build it (dotnet build -c {s_other} benchmarks/Measurements), or name it with "
                + $"{s_otherBuild.Name}.");
            return;
        }

        builds.Add(RunTwice(run, program, request));
        notes.Add(
            "Debug is this program and the library compiled without optimisation; the runtime, its JIT and the system's heap are the "
                + "same in both builds.");
        notes.AddRange(
            from build in builds.Select(pair => pair.First)
            where build.IsOptimized != (build.Configuration != "Debug")
            select $"The {build.Configuration} build is {(build.IsOptimized ? "optimised" : "not optimised")}, other than its name says.");
    }

    private static SweepPair RunTwice(MeasurementRun run, string program, SweepRequest request)
    {
        SweepReport Once(int number)
        {
            run.Console.WriteLine($"sweeping, run {number} of {Path.GetFileName(Path.GetDirectoryName(program))} ...");
            return Sweep.Task.Run(request, program: program);
        }

        return new SweepPair(Once(1), Once(2));
    }
}
