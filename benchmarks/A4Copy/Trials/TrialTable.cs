using System.Collections.Generic;
using System.Linq;
using Measuring.Timing;

namespace A4Copy.Trials;

/// <summary>The trials of several tests, each with several kinds of memory.</summary>
internal sealed class TrialTable
{
    private readonly List<Trial>[,] _trials;

    /// <summary>Makes an empty table.</summary>
    public TrialTable(IReadOnlyList<string> tests, IReadOnlyList<string> kinds)
    {
        Tests = tests;
        Kinds = kinds;
        _trials = new List<Trial>[tests.Count, kinds.Count];
        for (int test = 0; test < tests.Count; test++)
        {
            for (int kind = 0; kind < kinds.Count; kind++)
            {
                _trials[test, kind] = [];
            }
        }
    }

    /// <summary>Gets the names of the tests.</summary>
    public IReadOnlyList<string> Tests { get; }

    /// <summary>Gets the names of the kinds.</summary>
    public IReadOnlyList<string> Kinds { get; }

    /// <summary>Gets how many trials each mean is over.</summary>
    public int Count => _trials[0, 0].Count;

    /// <summary>Adds a trial.</summary>
    public void Add(int test, int kind, Trial trial) => _trials[test, kind].Add(trial);

    /// <summary>Returns the mean time, in milliseconds.</summary>
    public double Mean(int test, int kind) => _trials[test, kind].Average(trial => trial.Milliseconds);

    /// <summary>Returns the mean number of page faults.</summary>
    public double Faults(int test, int kind) => _trials[test, kind].Average(trial => trial.Faults);

    /// <summary>Returns the standard deviation of the time, divided by the mean.</summary>
    public double RelativeDeviation(int test, int kind)
        => Statistics.Deviation([.. _trials[test, kind].Select(trial => trial.Milliseconds)]) / Mean(test, kind);
}
