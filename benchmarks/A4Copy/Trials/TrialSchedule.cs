using System;
using System.Collections.Generic;
using System.Linq;
using A4Copy.Buffers;
using A4Copy.Children;
using A4Copy.Copying;

namespace A4Copy.Trials;

/// <summary>
/// The order of the tests: in each trial every test, and of each test every kind of memory in turn. Each kind has a process of its own, and
/// only one of them works at a time: so whatever else the machine does falls on all kinds, but no kind meets a heap that another has shaped.
/// </summary>
internal sealed class TrialSchedule : IDisposable
{
    // Comparing costs as much as copying: some trials stand for all.
    private const int TrialsPerComparison = 100;

    private readonly MemoryKind[] _kinds = Enum.GetValues<MemoryKind>();
    private readonly List<BenchProcess> _processes = [];
    private int _seed;

    /// <summary>Starts the processes, and waits until all are ready.</summary>
    public TrialSchedule()
    {
        foreach (MemoryKind kind in _kinds)
        {
            _processes.Add(BenchProcess.Start(kind));
        }

        _processes.ForEach(process => process.WaitUntilReady());
    }

    /// <summary>Runs <paramref name="trials"/> trials with memory that is allocated for each test and freed behind it.</summary>
    public TrialTable RunFresh(int trials, Action<int> onTrial)
        => Run(trials, isWarm: false, [$"allocate and free × {TrialBench.AllocationsPerTrial}", .. MethodNames()], onTrial);

    /// <summary>Runs <paramref name="trials"/> trials of the copies alone, from and to memory that is kept.</summary>
    public TrialTable RunWarm(int trials, Action<int> onTrial) => Run(trials, isWarm: true, [.. MethodNames()], onTrial);

    /// <summary>Ends the processes.</summary>
    public void Dispose() => _processes.ForEach(process => process.Dispose());

    private static IEnumerable<string> MethodNames() => CopyMethod.All.Select(method => method.Name);

    private TrialTable Run(int trials, bool isWarm, IReadOnlyList<string> tests, Action<int> onTrial)
    {
        TrialTable table = new(tests, [.. _kinds.Select(BufferSource.Name)]);

        // One before the first is not counted: pools are empty in it, and code is not compiled for the size.
        for (int trial = -1; trial < trials; trial++)
        {
            bool isCompared = trial % TrialsPerComparison == 0 || trial == trials - 1;
            for (int place = 0; place < tests.Count; place++)
            {
                // Forwards and backwards in turn. Two tests a trial allocate an array, and the collector runs after every other one, so that
                // each second array is fresh from the system, at more than the cost of the copy: always that of the same test otherwise.
                int test = trial % 2 == 0 ? place : tests.Count - 1 - place;
                TrialStep step = new(isWarm, isWarm ? test + 1 : test, _seed++, isCompared);
                for (int turn = 0; turn < _kinds.Length; turn++)
                {
                    // Another one begins each time: the first finds the caches as the test before left them.
                    int kind = (turn + trial + 1) % _kinds.Length;
                    Trial result = _processes[kind].Run(step);
                    if (trial >= 0)
                    {
                        table.Add(test, kind, result);
                    }
                }
            }

            onTrial(trial + 1);
        }

        return table;
    }
}
