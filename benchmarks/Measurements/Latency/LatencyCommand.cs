namespace Measurements.Latency;

/// <summary>Measures the worst rents: each of millions timed, while memory is trimmed, collected, fought for, or used up.</summary>
internal static class LatencyCommand
{
    private const int Rents = 2_000_000;
    private const int FewerRents = 200_000;

    private static readonly (Disturbance Disturbance, string Name)[] s_situations =
    [
        (Disturbance.Nothing, "nothing else"),
        (Disturbance.Trims, "another thread uses 16 blocks and trims, all the time"),
        (Disturbance.Collections, "full collections, all the time"),
        (Disturbance.Crowd, "500 threads, which let others run while they hold a block"),
        (Disturbance.FullPool, "a pool of which all blocks are rented"),
    ];

    public static Command Create()
        => new Command("latency", "Times each rent of 4 MB under trims, collections, 500 threads and a full pool: percentiles.")
            .Measures("Latency", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        List<(string Situation, string Subject, LatencyHistogram Times)> all = [];
        foreach ((Disturbance disturbance, string name) in s_situations)
        {
            foreach (string subject in LatencySubject.Names)
            {
                // Each rent of a full pool is a call of the system, and of 500 threads a change of threads.
                int rents = disturbance is Disturbance.Crowd or Disturbance.FullPool ? FewerRents : Rents;
                all.Add((name, subject, LatencyTrial.Run(subject, disturbance, run.IsQuick ? rents / 100 : rents)));
            }
        }

        return run.NewDocument("The worst rents of 4 MB") with
        {
            Tables = [Percentiles(all)],
            Notes =
            [
                "The rent alone is timed, with two reads of the clock, some 40 ns. Memory is not touched.",
                "A thread that loses its core during a rent waits for its turn: tens of microseconds to milliseconds, whatever it rents.",
                "ArrayPool has no call that trims: there the neighbour only uses blocks. Of a full pool, an array is made for each rent.",
            ],
        };
    }

    private static ResultTable Percentiles(List<(string Situation, string Subject, LatencyHistogram Times)> all) => new()
    {
        Title = "Times that this share of all rents does not exceed",
        Labels = ["meanwhile", "rented from"],
        Columns =
        [
            new("rents", null, "N0"), new("p50", "µs", "0.00"), new("p99", "µs", "0.00"), new("p99.9", "µs", "0.0"),
            new("p99.99", "µs", "0.0"), new("longest", "µs", "N0"),
        ],
        Rows =
        [
            .. all.Select(one => new ResultRow(
                [one.Situation, one.Subject],
                [
                    one.Times.Count, .. ((double[])[0.5, 0.99, 0.999, 0.9999]).Select(share => one.Times.Percentile(share) / 1e3),
                    one.Times.Longest / 1e3,
                ])),
        ],
    };
}
