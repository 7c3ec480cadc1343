using System.Diagnostics;

namespace Soak;

/// <summary>The resident set over the time of a run.</summary>
internal sealed class ResidentSet
{
    // What a run may grow by beside noise: thread stacks, the collector's own heap, code.
    private const long Slack = 32L << 20;
    private const double Tolerance = 1.15;

    private readonly List<long> _samples = [];

    /// <summary>Gets the median, in bytes, of the middle third of the run.</summary>
    public long Middle => Median(1);

    /// <summary>Gets the median, in bytes, of its last third.</summary>
    public long End => Median(2);

    /// <summary>Gets whether the end is no higher than the middle.</summary>
    public bool IsFlat => End <= Middle * Tolerance + Slack;

    public void Sample()
    {
        using Process self = Process.GetCurrentProcess();
        _samples.Add(self.WorkingSet64);
    }

    private long Median(int third)
    {
        long[] part = _samples.Skip(third * _samples.Count / 3).Take(Math.Max(1, _samples.Count / 3)).Order().ToArray();
        return part.Length == 0 ? 0 : part[part.Length / 2];
    }
}
