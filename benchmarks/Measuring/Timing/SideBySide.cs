using System.Runtime;

namespace Measuring.Timing;

/// <summary>How long one operation took.</summary>
/// <param name="Best">The shortest round, in nanoseconds an operation.</param>
/// <param name="Ratio">The median over the rounds of its time divided by that of the first operation in the same round.</param>
/// <param name="AllocatedBytes">What one operation allocates on the managed heap, on the thread that measures, in bytes.</param>
public sealed record OperationTime(string Name, double Median, double Best, double Ratio, double AllocatedBytes);

/// <summary>
/// Times several operations in turn, again and again, in one process: whatever else the machine does falls on all of them, so that their
/// ratios are steadier than their times.
/// </summary>
/// <remarks>
/// For what takes long enough to be looped over from outside; BenchmarkDotNet is the better choice for a single call without ratios.
/// </remarks>
public sealed class SideBySide
{
    // The runtime counts 30 calls of a method and then compiles it anew in the background, a tenth of a second after the last new method.
    private static readonly TimeSpan s_shortestWarmUp = TimeSpan.FromMilliseconds(250);

    // On a busy machine the compiler's thread comes late; on one that compiles for ever, it is not worth waiting for.
    private static readonly TimeSpan s_longestWarmUp = TimeSpan.FromSeconds(3);

    private const int MostRepetitions = 1 << 28;

    private readonly int _rounds;
    private readonly TimeSpan _sample;
    private readonly List<(string Name, Action<int> Loop)> _operations = [];

    /// <summary>
    /// Prepares <paramref name="rounds"/> rounds, in each of which every operation is repeated for about <paramref name="sample"/>.
    /// </summary>
    public SideBySide(int rounds, TimeSpan sample)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(rounds, 1);
        _rounds = rounds;
        _sample = sample;
    }

    /// <summary>
    /// Adds an operation. <paramref name="loop"/> does it as often as it is told. Ratios are to the operation added first.
    /// </summary>
    public void Add(string name, Action<int> loop) => _operations.Add((name, loop));

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

    // Finds how many repetitions fill a sample, once the code is warm: the first calls run code that the runtime replaces later.
    // The fastest lap says it: in a slow one, the machine was busy with something else.
    private int Calibrate(Action<int> loop)
    {
        CompilerWatch compiler = new();
        TimeSpan warmUp = 4 * _sample > s_shortestWarmUp ? 4 * _sample : s_shortestWarmUp;
        int count = 1;
        double fastest = double.PositiveInfinity;
        bool isWarm;
        do
        {
            long lap = Stopwatch.GetTimestamp();
            loop(count);
            TimeSpan elapsed = Stopwatch.GetElapsedTime(lap);
            fastest = Math.Min(fastest, elapsed.TotalNanoseconds / count);
            if (elapsed < _sample / 2 && count < MostRepetitions)
            {
                count *= 2;
            }

            bool isQuiet = compiler.IsQuiet;
            isWarm = compiler.Elapsed >= warmUp && (isQuiet || compiler.Elapsed >= s_longestWarmUp);
        }
        while (!isWarm);

        return (int)Math.Clamp(_sample.TotalNanoseconds / fastest, 1, MostRepetitions);
    }
}

/// <summary>Watches the just-in-time compiler, which replaces code in the background while that code is being measured.</summary>
internal sealed class CompilerWatch
{
    // The runtime collects methods for a tenth of a second before it compiles them anew.
    private static readonly TimeSpan s_quietTime = TimeSpan.FromMilliseconds(250);

    private readonly long _start = Stopwatch.GetTimestamp();
    private long _changed = Stopwatch.GetTimestamp();
    private long _methods = JitInfo.GetCompiledMethodCount();

    public TimeSpan Elapsed => Stopwatch.GetElapsedTime(_start);

    /// <summary>Gets whether nothing has been compiled for a while. To be asked often.</summary>
    public bool IsQuiet
    {
        get
        {
            long methods = JitInfo.GetCompiledMethodCount();
            if (methods != _methods)
            {
                _methods = methods;
                _changed = Stopwatch.GetTimestamp();
            }

            return Stopwatch.GetElapsedTime(_changed) >= s_quietTime;
        }
    }
}
