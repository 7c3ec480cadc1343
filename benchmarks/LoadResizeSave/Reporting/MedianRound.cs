using Measuring.Timing;

namespace LoadResizeSave.Reporting;

/// <summary>Finds the round that shows best what is usual.</summary>
internal static class MedianRound
{
    /// <summary>Returns the round whose times and peaks, those of all allocators together, are nearest to their medians.</summary>
    public static Round Find(IReadOnlyList<Round> rounds)
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
