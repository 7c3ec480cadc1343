namespace Measurements.Copies;

/// <summary>The trials of several tests, each with several kinds of memory.</summary>
internal sealed class TrialTable(IReadOnlyList<string> tests)
{
    private readonly List<Trial>[,] _trials = new List<Trial>[tests.Count, CopyKinds.Names.Count];

    public IReadOnlyList<string> Tests => tests;

    /// <summary>Gets how many trials each mean is over.</summary>
    public int Count => _trials[0, 0].Count;

    public void Add(int test, int kind, Trial trial) => (_trials[test, kind] ??= []).Add(trial);

    public double Mean(int test, int kind) => _trials[test, kind].Average(trial => trial.Milliseconds);

    public double Faults(int test, int kind) => _trials[test, kind].Average(trial => trial.Faults);

    public double RelativeDeviation(int test, int kind)
        => Statistics.Deviation([.. _trials[test, kind].Select(trial => trial.Milliseconds)]) / Mean(test, kind);
}
