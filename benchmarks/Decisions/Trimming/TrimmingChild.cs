using System;
using System.Buffers;
using System.Collections.Generic;
using System.Diagnostics;
using System.Text.Json;
using System.Threading;
using Allocator;
using Allocator.Allocators;
using Allocator.Native;
using Allocator.Trimming;
using Decisions.Machines;
using Measuring.Machines;
using Measuring.Memory;

namespace Decisions.Trimming;

/// <summary>A process that works in bursts, and is then watched. Each trigger has one of its own: the collector learns from what it sees.</summary>
internal sealed class TrimmingChild
{
    /// <summary>The first argument of a child; the second says what it is to do.</summary>
    public const string Argument = "trimming-child";

    private const int ShortLived = 100_000;
    private const int LongLived = 1_000_000;
    private const int ObjectsPerBlock = 200;
    private const int ObjectsPerSlice = 20_000;

    private static readonly TimeSpan s_slice = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_sampling = TimeSpan.FromMilliseconds(50);

    private readonly TrimmingRun _run;
    private readonly CollectorPressure _pressure = new();
    private readonly SmallObjects _objects = new(ShortLived);
    private readonly TrimScheduler _scheduler;
    private readonly MemoryAllocator _allocator;

    private TrimmingChild(TrimmingRun run)
    {
        _run = run;
        Clock clock = run.Trigger.HasTimer() ? SystemClock.Instance : new TimerlessClock();
        _scheduler = new TrimScheduler(
            clock, static () => GC.Collect(2, GCCollectionMode.Forced, blocking: false), watchesCollections: run.Trigger != TrimTrigger.Timer);
        _allocator = new PooledMemoryAllocator(new AllocatorSettings(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = (run.Blocks + 1) * (MemorySize.Block / MemorySize.Megabyte), TrimPeriod = run.Period })
        {
            Clock = clock,
            Pressure = new NoPressure(),
            Scheduler = _scheduler,
            Source = ObservedSource.Create(
                committed: run.Trigger == TrimTrigger.PressureOfCommitted ? _pressure.Add : static () => { },
                purged: run.Trigger.TellsCollector() ? _pressure.Remove : static () => { }),
        });
    }

    /// <summary>Does a child's work and writes its result, where the arguments are a child's.</summary>
    public static bool TryRun(string[] arguments)
    {
        if (arguments is not [Argument, string text])
        {
            return false;
        }

        TrimmingRun run = JsonSerializer.Deserialize(text, TrimmingJson.Default.TrimmingRun)!;
        TrimmingResult result = new TrimmingChild(run).Run();
        Console.Out.WriteLine(JsonSerializer.Serialize(result, TrimmingJson.Default.TrimmingResult));
        return true;
    }

    private TrimmingResult Run()
    {
        using CollectionListener listener = new();
        IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[_run.Blocks];

        DateTime workStart = DateTime.UtcNow;
        CollectionCounts beforeWork = CollectionCounts.Read();

        // The first burst has the system's memory to wait for, and code to be compiled: it is not timed.
        Burst(owners);
        long start = Stopwatch.GetTimestamp();
        int bursts = 0;
        do
        {
            Burst(owners);
            bursts++;
        }
        while (Stopwatch.GetElapsedTime(start) < _run.Work);

        double perSecond = bursts / Stopwatch.GetElapsedTime(start).TotalSeconds;
        DateTime idleStart = DateTime.UtcNow;
        CollectionCounts beforeIdle = CollectionCounts.Read();
        List<TrimmingSample> samples = Watch();
        CollectionCounts atEnd = CollectionCounts.Read();
        DateTime end = DateTime.UtcNow;
        GC.KeepAlive(_scheduler);
        CollectionListener.Settle();
        return new TrimmingResult
        {
            BurstsPerSecond = perSecond,
            Work = beforeIdle.Since(beforeWork) with { Induced = listener.CountInduced(workStart, idleStart) },
            Idle = atEnd.Since(beforeIdle) with { Induced = listener.CountInduced(idleStart, end) },
            Samples = samples,
        };
    }

    private void Burst(IMemoryOwner<byte>[] owners)
    {
        bool tellsRetained = _run.Trigger == TrimTrigger.PressureOfRetained;
        for (int i = 0; i < owners.Length; i++)
        {
            if (tellsRetained)
            {
                _pressure.Remove();
            }

            owners[i] = _allocator.Allocate<byte>(MemorySize.Block);
            PageTouch.Write(owners[i].Memory.Span);
            _objects.Allocate(ObjectsPerBlock);
        }

        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
            if (tellsRetained)
            {
                _pressure.Add();
            }
        }
    }

    private List<TrimmingSample> Watch()
    {
        SmallObjects objects = _run.Aftermath == Aftermath.LongLivedObjects ? new SmallObjects(LongLived) : _objects;

        // Large enough from the start: watching allocates nothing that would cause a collection.
        List<TrimmingSample> samples = new((int)(_run.Watch / s_sampling) + 2);
        long start = Stopwatch.GetTimestamp();
        TimeSpan elapsed = TimeSpan.Zero;
        TimeSpan due = TimeSpan.Zero;
        while (elapsed < _run.Watch)
        {
            if (elapsed >= due)
            {
                samples.Add(new TrimmingSample(elapsed.TotalSeconds, ProcessMemory.ReadResidentOften(), _allocator.GetStatistics().RetainedBytes));
                due += s_sampling;
            }

            if (_run.Aftermath != Aftermath.Nothing)
            {
                objects.Allocate(ObjectsPerSlice);
            }

            Thread.Sleep(s_slice);
            elapsed = Stopwatch.GetElapsedTime(start);
        }

        samples.Add(new TrimmingSample(elapsed.TotalSeconds, ProcessMemory.ReadResidentOften(), _allocator.GetStatistics().RetainedBytes));
        return samples;
    }
}
