namespace LoadResizeSave.Running;

/// <summary>One run of every allocator, close together in time, so that what else the machine does falls on all of them.</summary>
/// <param name="Runs">The runs, in the order in which the user named the allocators.</param>
internal sealed record Round(int Number, IReadOnlyList<MeasuredRun> Runs)
{
    /// <summary>Returns the round whose times and peaks, those of all allocators together, are nearest to their medians.</summary>
    public static Round Median(IReadOnlyList<Round> rounds)
    {
        double[] distances = new double[rounds.Count];
        for (int i = 0; i < rounds[0].Runs.Count; i++)
        {
            foreach (RunFigure figure in (RunFigure[])[RunFigure.Wall, RunFigure.PeakResident])
            {
                double[] values = [.. rounds.Select(round => figure.Read(round.Runs[i])!.Value)];
                double median = Statistics.Median(values);
                distances = [.. distances.Zip(values, (distance, value) => distance + Math.Abs((value / median) - 1))];
            }
        }

        return rounds[Array.IndexOf(distances, distances.Min())];
    }
}
