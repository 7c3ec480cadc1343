using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

namespace Measuring.Timing;

/// <summary>
/// Times several operations in turn, again and again, in one process: whatever else the machine does falls on all of them,
/// so that their ratios are steadier than their times.
/// </summary>
/// <remarks>For what takes long enough to be looped over from outside; BenchmarkDotNet is the better choice for a single call without ratios.</remarks>
public sealed class SideBySide
{
    private readonly int _rounds;
    private readonly TimeSpan _sample;
    private readonly List<(string Name, Action<int> Loop)> _operations = [];

    /// <summary>Prepares <paramref name="rounds"/> rounds, in each of which every operation is repeated for about <paramref name="sample"/>.</summary>
    public SideBySide(int rounds, TimeSpan sample)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(rounds, 1);
        _rounds = rounds;
        _sample = sample;
    }

    /// <summary>Adds an operation. <paramref name="loop"/> does it as often as it is told. Ratios are to the operation added first.</summary>
    public void Add(string name, Action<int> loop) => _operations.Add((name, loop));

    /// <summary>Measures.</summary>
    public IReadOnlyList<OperationTime> Run()
    {
        int[] counts = [.. _operations.Select(operation => Calibrate(operation.Loop))];
        double[][] times = [.. _operations.Select(_ => new double[_rounds])];
        double[] bytes = new double[_operations.Count];
        for (int round = 0; round < _rounds; round++)
        {
            for (int i = 0; i < _operations.Count; i++)
            {
                long allocated = GC.GetAllocatedBytesForCurrentThread();
                long start = Stopwatch.GetTimestamp();
                _operations[i].Loop(counts[i]);
                times[i][round] = Stopwatch.GetElapsedTime(start).TotalNanoseconds / counts[i];
                bytes[i] = (GC.GetAllocatedBytesForCurrentThread() - allocated) / (double)counts[i];
            }
        }

        return
        [
            .. _operations.Select((operation, i) => new OperationTime(
                operation.Name,
                Statistics.Median(times[i]),
                times[i].Min(),
                Statistics.Median(times[i].Zip(times[0], (time, first) => time / first)),
                bytes[i])),
        ];
    }

    // Finds how many repetitions fill a sample. It also warms the code up: tier-1 code is there long before the last round of it.
    private int Calibrate(Action<int> loop)
    {
        int count = 1;
        while (true)
        {
            long start = Stopwatch.GetTimestamp();
            loop(count);
            TimeSpan elapsed = Stopwatch.GetElapsedTime(start);
            if (elapsed >= _sample || count >= 1 << 28)
            {
                return Math.Max(1, (int)(count * Math.Min(1, _sample / elapsed)));
            }

            count = checked(count * (elapsed < _sample / 16 ? 8 : 2));
        }
    }
}
