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

    private readonly CopyKind _kind;
    private readonly PageSource _buffers;
    private (PageBuffer Source, PageBuffer Destination)? _kept;
    private long _ticks;
    private long _faults;

    private CopyBench(CopyKind kind)
    {
        _kind = kind;
        _buffers = PageSource.Create(kind);
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
            throw new InvalidOperationException($"{name}, {CopyKinds.Names[(int)_kind]}: the copy differs from its source at byte "
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

            CopyBench bench = new(Enum.Parse<CopyKind>(kind));
            Console.Out.WriteLine("ready");
            while (Console.In.ReadLine() is { } line)
            {
                Console.Out.WriteLine(bench.Run(CopyStep.Parse(line)).ToLine());
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
internal readonly record struct CopyStep(bool IsWarm, int Test, int Seed, bool IsCompared)
{
    public static CopyStep Parse(string line)
    {
        int[] numbers = Array.ConvertAll(line.Split(' '), text => int.Parse(text, CultureInfo.InvariantCulture));
        return new CopyStep(numbers[0] != 0, numbers[1], numbers[2], numbers[3] != 0);
    }

    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{(IsWarm ? 1 : 0)} {Test} {Seed} {(IsCompared ? 1 : 0)}");
}

/// <summary>One trial of one test with one kind of memory.</summary>
internal readonly record struct Trial(double Milliseconds, long Faults)
{
    public static Trial Parse(string line)
    {
        string[] numbers = line.Split(' ');
        return new Trial(double.Parse(numbers[0], CultureInfo.InvariantCulture), long.Parse(numbers[1], CultureInfo.InvariantCulture));
    }

    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{Milliseconds:R} {Faults}");
}

/// <summary>This program, started again for one kind of memory, with a heap that no other kind has shaped.</summary>
internal sealed class CopyProcess : IDisposable
{
    private readonly CopyKind _kind;
    private readonly Process _process;
    private readonly Task<string> _errors;

    /// <summary>Starts it.</summary>
    public CopyProcess(CopyKind kind)
    {
        _kind = kind;
        _process = ChildProgram.Start(
            ChildProgram.Describe(ChildProgram.ThisProgram, [ChildProgram.Argument, CopyBench.Name, kind.ToString()]));
        _errors = _process.StandardError.ReadToEndAsync();
    }

    /// <summary>Waits for its next line; the first says that it has started and warmed up.</summary>
    public string Read() => _process.StandardOutput.ReadLine()
        ?? throw new InvalidOperationException($"{CopyKinds.Names[(int)_kind]}: {_errors.Result.Trim()}");

    /// <summary>Has it do a step, and waits for the end.</summary>
    public Trial Run(CopyStep step)
    {
        _process.StandardInput.WriteLine(step.ToLine());
        return Trial.Parse(Read());
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
