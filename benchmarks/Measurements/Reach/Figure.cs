namespace Measurements.Reach;

/// <summary>One figure that the project wants to reach, and what it is.</summary>
/// <param name="What">What was measured.</param>
/// <param name="Against">What it was measured against, or the unit of an absolute figure.</param>
/// <param name="Measured">The measured value; null where this machine cannot show it.</param>
/// <param name="Aim">What would be better still, or null.</param>
/// <param name="Margin">
/// By which factor a figure of a noisy machine may miss the limit before <c>--check</c> calls it a regression; 1 for counts, which are the
/// same on every machine.
/// </param>
internal sealed record Figure(
    string What, string Against, double? Measured, double Limit, double? Aim = null, bool MoreIsBetter = false, double Margin = 1)
{
    public string Verdict => Measured is not { } value ? "not here"
        : Aim is { } aim && Meets(value, aim) ? "aim"
        : Meets(value, Limit) ? "reached"
        : "no";

    public string Wanted => Invariant($"{(MoreIsBetter ? "≥" : "≤")} {Limit}")
        + (Aim is { } aim ? Invariant($" (aim {aim})") : "");

    /// <summary>Gets how many times its limit it takes; 1 is just reached.</summary>
    public double Distance => Measured is not { } value ? 0 : MoreIsBetter ? Limit / value : Limit == 0 ? value + 1 : value / Limit;

    public bool IsRegression => Measured is { } value && !Meets(value, MoreIsBetter ? Limit / Margin : Limit * Margin);

    private bool Meets(double value, double limit) => MoreIsBetter ? value >= limit : value <= limit;
}

/// <summary>
/// How much time is spent on a figure: the rounds of which the best is taken, and how long an operation is repeated in each.
/// </summary>
internal sealed record Effort(int Rounds, TimeSpan Sample)
{
    /// <summary>Gets what it takes for figures that are worth keeping.</summary>
    public static Effort Full { get; } = new(41, TimeSpan.FromMilliseconds(20));

    /// <summary>Gets what it takes to see gross regressions.</summary>
    public static Effort Brief { get; } = new(9, TimeSpan.FromMilliseconds(6));

    /// <summary>Times operations, in turn.</summary>
    public IReadOnlyList<OperationTime> Compare(params ReadOnlySpan<Action<int>> loops) => Compare(Rounds, loops);

    /// <summary>Times operations that take milliseconds each.</summary>
    public IReadOnlyList<OperationTime> CompareLong(params ReadOnlySpan<Action<int>> loops) => Compare(Math.Max(5, Rounds / 3), loops);

    /// <summary>Times operations on one thread: the best round of each, which a neighbour disturbed least, by that of the first.</summary>
    public double[] Shares(params ReadOnlySpan<Action<int>> loops)
    {
        IReadOnlyList<OperationTime> times = Compare(Rounds, loops);
        return [.. times.Select(time => time.Best / times[0].Best)];
    }

    /// <summary>
    /// Times an operation on several threads at once against itself on one, in processor time an operation: threads that wait for each
    /// other's cache lines take more of it, those that wait for a core do not.
    /// </summary>
    public double ShareOfTeam(int threads, Action<int> loop)
    {
        using ThreadTeam alone = new(1, (_, count) => loop(count));
        using ThreadTeam team = new(threads, (_, count) => loop(count));
        double one = 1e9;
        List<double> ratios = [];
        int operations = 0;
        for (int round = -5; round < Rounds; round++)
        {
            one = ProcessorTime(alone, operations = operations == 0 ? 1 << 16 : operations);
            double several = ProcessorTime(team, operations);
            if (round < 0)
            {
                operations = (int)Math.Clamp(Sample.TotalSeconds / one * threads, 1 << 12, 1 << 26);
            }
            else
            {
                ratios.Add(several / one);
            }
        }

        return Statistics.Median([.. ratios]);
    }

    private static double ProcessorTime(ThreadTeam team, int operations)
    {
        TimeSpan before = Environment.CpuUsage.TotalTime;
        team.Run(operations);
        return (Environment.CpuUsage.TotalTime - before).TotalSeconds / operations;
    }

    private IReadOnlyList<OperationTime> Compare(int rounds, ReadOnlySpan<Action<int>> loops)
    {
        SideBySide comparison = new(rounds, Sample);
        foreach (Action<int> loop in loops)
        {
            comparison.Add("", loop);
        }

        return comparison.Run();
    }
}
