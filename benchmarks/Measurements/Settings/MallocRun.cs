namespace Measurements.Settings;

/// <summary>What one child measured of malloc. Resident memory is above that before the first allocation; all sizes in bytes.</summary>
/// <param name="LiveBytes">The mean of what the threads held.</param>
/// <param name="LargeFreed">What was left when all but the small blocks was freed.</param>
/// <param name="ProcessorMicroseconds">The processor time of an allocation, the writing to it and its release.</param>
internal sealed record MallocFigures(
    double LiveBytes,
    double Running,
    double Peak,
    double LargeFreed,
    double Freed,
    double Trimmed,
    double TrimMilliseconds,
    double ProcessorMicroseconds);

/// <summary>Threads that allocate and free blocks as codecs do: 64 KB to 6 MB, each written to.</summary>
internal sealed class MallocRun
{
    public const int Threads = 16;

    public const int Held = 4;

    /// <summary>Small blocks that each thread holds at once: tables and the like, which codecs keep longer than pictures.</summary>
    public const int SmallHeld = 16;

    private const int SmallSize = 1000;
    private const int Least = 64 * 1000;
    private const int Most = 6 * 1000 * 1000;
    private const int PageSize = 4096;
    private const int Seed = 17;

    private readonly TimeSpan _duration;
    private readonly double[] _meanLive = new double[Threads];
    private readonly int[] _allocations = new int[Threads];
    private bool _stop;

    public static ChildTask<int, MallocFigures> Task { get; } = new(
        "malloc", MeasurementJson.Default.Int32, MeasurementJson.Default.MallocFigures, static milliseconds => new MallocRun(
            milliseconds).Run());

    public MallocRun(int milliseconds) => _duration = TimeSpan.FromMilliseconds(milliseconds);

    /// <summary>Runs in this process, with the settings that it was started with.</summary>
    private MallocFigures Run()
    {
        // All threads meet here between two parts. They live until the end of the process, as those of a pool do, and keep their arenas.
        using Barrier parts = new(Threads + 1);
        for (int i = 0; i < Threads; i++)
        {
            int index = i;
            new Thread(() => Work(index, parts)) { IsBackground = true }.Start();
        }

        // Threads are there, and have allocated nothing yet.
        parts.SignalAndWait();
        long before = ProcessMemory.ReadResident();
        using Sampler<double> sampler = new(TimeSpan.FromMilliseconds(5), static _ => ProcessMemory.ReadResidentOften());
        TimeSpan processor = Environment.CpuUsage.TotalTime;
        parts.SignalAndWait();
        Thread.Sleep(_duration);
        Volatile.Write(ref _stop, true);
        parts.SignalAndWait();
        processor = Environment.CpuUsage.TotalTime - processor;
        double[] running = [.. sampler.Stop()];
        long largeFreed = ProcessMemory.ReadResident();
        parts.SignalAndWait();
        parts.SignalAndWait();
        long freed = ProcessMemory.ReadResident();
        long start = Stopwatch.GetTimestamp();
        _ = Allocator.NativeHeap.TryTrim();
        double trim = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        MallocFigures figures = new(
            LiveBytes: _meanLive.Sum(),
            Running: Statistics.Median(running) - before,
            Peak: running.Max() - before,
            LargeFreed: largeFreed - before,
            Freed: freed - before,
            Trimmed: ProcessMemory.ReadResident() - before,
            TrimMilliseconds: trim,
            ProcessorMicroseconds: processor.TotalMicroseconds / _allocations.Sum());
        parts.SignalAndWait();
        return figures;
    }

    private void Work(int index, Barrier parts)
    {
        parts.SignalAndWait();
        parts.SignalAndWait();
        AllocateAndFree(index, parts);
        parts.SignalAndWait();
        parts.SignalAndWait();
    }

    private unsafe void AllocateAndFree(int index, Barrier parts)
    {
        Random random = new(Seed + index);
        void** held = stackalloc void*[Held];
        void** small = stackalloc void*[SmallHeld];
        int* sizes = stackalloc int[Held];
        double sum = 0;
        int round = 0;
        for (; !Volatile.Read(ref _stop); round++)
        {
            int slot = round % Held;
            NativeMemory.Free(held[slot]);
            sizes[slot] = random.Next(Least, Most);
            held[slot] = NativeMemory.Alloc((nuint)sizes[slot]);
            for (int offset = 0; offset < sizes[slot]; offset += PageSize)
            {
                ((byte*)held[slot])[offset] = 1;
            }

            NativeMemory.Free(small[round % SmallHeld]);
            small[round % SmallHeld] = NativeMemory.Alloc(SmallSize);
            *(byte*)small[round % SmallHeld] = 1;
            for (int i = 0; i < Held; i++)
            {
                sum += sizes[i];
            }
        }

        for (int i = 0; i < Held; i++)
        {
            NativeMemory.Free(held[i]);
        }

        _meanLive[index] = sum / Math.Max(1, round);
        _allocations[index] = round;
        parts.SignalAndWait();
        parts.SignalAndWait();
        for (int i = 0; i < SmallHeld; i++)
        {
            NativeMemory.Free(small[i]);
        }
    }
}

/// <summary>
/// Environment variables that a child is started with: <c>NAME=value</c>, several of them divided by blanks; null for none.
/// </summary>
internal sealed record Setting(string? Variables)
{
    public string Name => Variables ?? "none";

    /// <summary>Sets them, and takes away whatever else could act in their place.</summary>
    public void Apply(ProcessStartInfo start)
    {
        ChildProgram.ForgetMemorySettings(start);
        foreach (string one in Variables?.Split(' ') ?? [])
        {
            int equals = one.IndexOf('=');
            start.Environment[one[..equals]] = one[(equals + 1)..];
        }
    }
}
