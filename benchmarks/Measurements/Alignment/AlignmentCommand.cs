namespace Measurements.Alignment;

/// <summary>
/// Checks that every way of allocating aligns as it promises, and times them, twice and as built in Debug and in Release.
/// </summary>
internal static class AlignmentCommand
{
    public static Command Create() => new Command(
        "alignment", "Checks the alignment of 200 buffers for each way of allocating, and times allocation and release over image sizes.")
    {
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
        List<SweepReport> reports = [];
        foreach (int number in (int[])[1, 2])
        {
            run.Console.WriteLine($"sweeping, run {number} ...");
            reports.Add(Sweep.Task.Run(request));
        }

        notes.Add(
            $"{request.Samples} samples of each untouched time and {request.TouchedSamples} of each touched one, all ways in turn in "
                + "each round; run 1 and run 2 are two processes: their difference is the noise.");
        SweepTables tables = new(reports);
        return run.NewDocument("Aligned allocation: is it aligned, and what does it cost?") with
        {
            Tables = [checks, tables.OfAllWays(touched: false), tables.OfAllWays(touched: true)],
            Charts = [tables.Chart(touched: false), tables.Chart(touched: true)],
            Notes = notes,
        };
    }
}
