namespace Measurements.Copies;

/// <summary>Does the tests with one kind of memory: a step for each line that it is sent, answered with the trial.</summary>
internal sealed unsafe class CopyBench
{
    /// <summary>How often the first test allocates and frees in a trial.</summary>
    public const int AllocationsPerTrial = 100;

    /// <summary>The name of the task; the kind of memory follows.</summary>
    public const string Name = "copy";

    // Enough calls for the compiler to be done, at a size that costs nothing.
    private const int WarmUpCalls = 200;
    private const int WarmUpLength = 4096;

    private static readonly TimeSpan s_compilerTurn = TimeSpan.FromMilliseconds(150);

    private readonly int _kind;
    private readonly PageSource _buffers;
    private (PageBuffer Source, PageBuffer Destination)? _kept;
    private long _ticks;
    private long _faults;

    private CopyBench(int kind)
    {
        _kind = kind;
        _buffers = PageSource.Kinds[kind].Create();
        WarmUp();
    }

    public static IChildTask Task { get; } = new Dialogue();

    private Trial Run(CopyStep step)
    {
        (_ticks, _faults) = (0, 0);
        if (step.IsWarm)
        {
            // Never freed: the process ends behind the warm trials.
            (PageBuffer source, PageBuffer destination) = _kept ??= (_buffers.Allocate(), _buffers.Allocate());
            Copy(step, source, destination);
        }
        else if (step.Test == 0)
        {
            Measure(() => _buffers.AllocateAndFree(AllocationsPerTrial));
        }
        else
        {
            PageBuffer source = null!;
            PageBuffer destination = null!;
            Measure(() => (source, destination) = (_buffers.Allocate(), _buffers.Allocate()));
            Copy(step, source, destination);
            Measure(() =>
            {
                destination.Free();
                source.Free();
            });
        }

        return new Trial(1e3 * _ticks / Stopwatch.Frequency, _faults);
    }

    private void WarmUp()
    {
        byte* memory = stackalloc byte[2 * WarmUpLength];

        // Twice: code is instrumented first, and compiled for good after that.
        for (int round = 0; round < 2; round++)
        {
            foreach ((_, PageCopies.Copy copy) in PageCopies.All)
            {
                for (int i = 0; i < WarmUpCalls; i++)
                {
                    copy(memory, memory + WarmUpLength, WarmUpLength);
                }
            }

            _buffers.AllocateAndFree(WarmUpCalls);
            Thread.Sleep(s_compilerTurn);
        }
    }

    private void Measure(Action action)
    {
        long faults = ThreadFaults.Read();
        long start = Stopwatch.GetTimestamp();
        action();
        _ticks += Stopwatch.GetTimestamp() - start;
        _faults += ThreadFaults.Read() - faults;
    }

    // The source is written to, outside of the time: nothing copies what was never written, and on Linux that would read
    // one page of zeros again and again.
    private void Copy(CopyStep step, PageBuffer source, PageBuffer destination)
    {
        (string name, PageCopies.Copy copy) = PageCopies.All[step.Test - 1];
        if (step.IsCompared)
        {
            Fill(source, step.Seed);
        }
        else
        {
            PageTouch.Write(source.Span);
        }

        Measure(() => copy((byte*)source.Address, (byte*)destination.Address, PageBuffer.SizeInBytes));
        int equal = step.IsCompared ? source.Span.CommonPrefixLength(destination.Span) : PageBuffer.SizeInBytes;
        if (equal != PageBuffer.SizeInBytes)
        {
            throw new InvalidOperationException($"{name}, {PageSource.Kinds[_kind].Name}: the copy differs from its source at byte "
                + $"{equal}.");
        }
    }

    // So that no part of it is like another, nor like what lies in memory from earlier trials.
    private static void Fill(PageBuffer source, int seed)
    {
        // Weyl's sequence: an odd step visits all numbers, and each seed begins elsewhere.
        const ulong Step = 0x9E37_79B9_7F4A_7C15;
        ulong value = (ulong)(seed + 1) << 40;
        foreach (ref ulong word in MemoryMarshal.Cast<byte, ulong>(source.Span))
        {
            word = value += Step;
        }
    }

    // Ends when its input does, and so with its parent.
    private sealed class Dialogue : IChildTask
    {
        public bool TryServe(string[] arguments)
        {
            if (arguments is not [ChildProgram.Argument, Name, var kind])
            {
                return false;
            }

            CopyBench bench = new(int.Parse(kind, CultureInfo.InvariantCulture));
            Console.Out.WriteLine("ready");
            while (Console.In.ReadLine() is { } line)
            {
                Trial trial = bench.Run(JsonSerializer.Deserialize(line, MeasurementJson.Default.CopyStep));
                Console.Out.WriteLine(JsonSerializer.Serialize(trial, MeasurementJson.Default.Trial));
            }

            return true;
        }
    }
}

/// <summary>What one kind of memory is to do next.</summary>
/// <param name="IsWarm">Whether the buffers are those that are kept.</param>
/// <param name="Test">The test: 0 allocates and frees, those that follow are <see cref="PageCopies.All"/>.</param>
/// <param name="Seed">What the source is filled from where the copy is compared with it.</param>
/// <param name="IsCompared">Whether it is.</param>
internal readonly record struct CopyStep(bool IsWarm, int Test, int Seed, bool IsCompared);

/// <summary>One trial of one test with one kind of memory.</summary>
internal readonly record struct Trial(double Milliseconds, long Faults);

/// <summary>This program, started again for one kind of memory, with a heap that no other kind has shaped.</summary>
internal sealed class CopyProcess(int kind) : IDisposable
{
    private readonly Process _process = ChildProgram.Start(
        ChildProgram.Describe(ChildProgram.ThisProgram, ChildProgram.Argument, CopyBench.Name, $"{kind}"));

    /// <summary>Waits for its next line; the first says that it has started and warmed up.</summary>
    public string Read() => _process.StandardOutput.ReadLine()
        ?? throw new ChildFailedException($"{PageSource.Kinds[kind].Name}: {_process.StandardError.ReadToEnd().Trim()}");

    /// <summary>Has it do a step, and waits for the end.</summary>
    public Trial Run(CopyStep step)
    {
        _process.StandardInput.WriteLine(JsonSerializer.Serialize(step, MeasurementJson.Default.CopyStep));
        return JsonSerializer.Deserialize(Read(), MeasurementJson.Default.Trial);
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }
}

/// <summary>
/// Counts this thread's page faults that were served without the disk: each is a page of memory that the system has just provided.
/// </summary>
internal static unsafe partial class ThreadFaults
{
    // getrusage(2): RUSAGE_THREAD, and the place of ru_minflt among the words of struct rusage, which are of one size each.
    private const int OfThisThread = 1;
    private const int MinorFaults = 8;
    private const int Words = 18;

    /// <summary>Gets whether the system tells.</summary>
    public static bool AreCounted { get; } = OperatingSystem.IsLinux() && Environment.Is64BitProcess;

    /// <summary>Returns how many there have been; 0 where <see cref="AreCounted"/> is false.</summary>
    public static long Read()
    {
        long* usage = stackalloc long[Words];
        return AreCounted && GetResourceUsage(OfThisThread, usage) == 0 ? usage[MinorFaults] : 0;
    }

    [LibraryImport("libc", EntryPoint = "getrusage")]
    private static partial int GetResourceUsage(int who, long* usage);
}
