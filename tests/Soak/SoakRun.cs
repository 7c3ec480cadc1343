using System.Collections.Concurrent;
using System.Diagnostics;
using Allocator;
using ContractSuite.Loading;
using Spectre.Console;

namespace Soak;

/// <summary>A run: the load, the samples meanwhile, and what must hold at the end.</summary>
internal sealed class SoakRun
{
    // Threads end after so many operations, and others take their places.
    private const int OperationsOfAThread = 400;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_betweenSamples = TimeSpan.FromMilliseconds(100);

    private readonly SoakOptions _options;
    private readonly Tally _tally = new();
    private readonly ResidentSet _resident = new();
    private readonly ConcurrentQueue<Holding> _handedOver = new();
    private readonly Callbacks _callbacks = new();
    private readonly ManagedHeap _heap = new();
    private readonly MemoryAllocator _allocator;
    private int _seed;

    public SoakRun(SoakOptions options)
    {
        _options = options;
        _seed = options.Seed * 100_000;
        _allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            Name = "soak",
            MaximumPoolSizeMegabytes = 128,
            MemoryBudgetMegabytes = options.BudgetMegabytes > 0 ? options.BudgetMegabytes : null,
            BudgetTimeout = TimeSpan.FromMilliseconds(20),
            TrimPeriod = TimeSpan.FromSeconds(1),
            BlockCommitted = _callbacks.Committed,
            BlockReleasing = _callbacks.Releasing,
        });
    }

    /// <summary>Runs. True where all is as it should be.</summary>
    public bool Run()
    {
        Stopwatch elapsed = Stopwatch.StartNew();
        using (CancellationTokenSource stop = new(_options.Duration))
        {
            Thread[] threads = Enumerable.Range(0, _options.Threads).Select(_ => new Thread(() => Replace(stop.Token))).ToArray();
            Array.ForEach(threads, static thread => thread.Start());
            Thread? filler = _options.Exhausts ? new Thread(() => _heap.Run(stop.Token)) : null;
            filler?.Start();
            WaitHandle stopped = stop.Token.WaitHandle;

            // Made once: outside of Guard nothing may need managed memory.
            Action look = Look;
            while (!stopped.WaitOne(s_betweenSamples))
            {
                Guard(look);
            }

            filler?.Join();

            Array.ForEach(threads, static thread => thread.Join());
        }

        while (_handedOver.TryDequeue(out Holding? left))
        {
            left.Dispose();
        }

        _callbacks.Stop();
        AwaitTheEnd();
        bool isGood = CheckEnd(out List<(string What, string Is, bool IsGood)> results);
        Print(results, elapsed.Elapsed);
        return isGood;
    }

    // One short-lived thread after the other.
    private void Replace(CancellationToken stop)
    {
        Action load = () => LoadOnce(stop);
        Action useAnother = UseAnotherAllocator;
        while (!stop.IsCancellationRequested)
        {
            Guard(load);
            Guard(useAnother);
        }
    }

    private void LoadOnce(CancellationToken stop)
    {
        RandomLoad load = new(_allocator, _tally, _handedOver, Interlocked.Increment(ref _seed), _options.Exhausts);
        if (_options.Exhausts)
        {
            // Where there is no memory, a thread that cannot be started ends the process.
            load.Run(OperationsOfAThread, stop);
            return;
        }

        Thread thread = new(() => Guard(() => load.Run(OperationsOfAThread, stop)));
        thread.Start();
        thread.Join();
        _tally.Count("threads");
    }

    private void Guard(Action action)
    {
        try
        {
            action();
        }
        catch (OutOfMemoryException) when (_options.Exhausts)
        {
        }
        catch (Exception exception)
        {
            _tally.Report(exception.ToString());
        }
    }

    // Allocators come and go too, and what is out outlives them.
    private static void UseAnotherAllocator()
    {
        MemoryAllocator other = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16 });
        using MemoryGroup<byte> group = other.AllocateGroup<byte>(6 << 20);
        other.Dispose();
        group.Fill(1);
    }

    private void Look()
    {
        _resident.Sample();
        MemoryAllocatorStatistics now = _allocator.GetStatistics();
        long limit = (long)_options.BudgetMegabytes << 20;
        if (limit > 0 && (now.CommittedBytes > limit || now.BudgetUsedBytes > limit))
        {
            _tally.Report($"Above the budget: {now}");
        }
    }

    // What was abandoned is found by collections, and leaves its quarantine after a trim period.
    private void AwaitTheEnd()
    {
        Stopwatch waited = Stopwatch.StartNew();
        using ManualResetEventSlim never = new();
        while (waited.Elapsed < s_patience
            && (_allocator.GetStatistics() is { OutstandingAllocations: > 0 } or { QuarantinedBytes: > 0 } or { RentedBytes: > 0 }))
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            never.Wait(s_betweenSamples);
        }

        _allocator.ReleaseRetainedResources();
    }

    private bool CheckEnd(out List<(string What, string Is, bool IsGood)> results)
    {
        MemoryAllocatorStatistics end = _allocator.GetStatistics();
        results =
        [
            Zero("outstanding allocations", end.OutstandingAllocations),
            Zero("rented bytes", end.RentedBytes),
            Zero("quarantined bytes", end.QuarantinedBytes),
            Zero("committed bytes after release", end.CommittedBytes),
            Zero("budget used", end.BudgetUsedBytes),
            ("abandoned, and found", $"{_tally["abandoned"]:N0}, {end.Abandoned:N0}", _options.Exhausts
                || end.Abandoned == _tally["abandoned"]),
            ("times that the managed heap was full", $"{_heap.Times:N0}", _options.Exhausts == _heap.Times > 0),
            ("peak committed", $"{end.PeakCommittedBytes >> 20:N0} MiB", _options.BudgetMegabytes == 0
                || end.PeakCommittedBytes >> 20 <= _options.BudgetMegabytes),
            ("resident set, middle and end", $"{_resident.Middle >> 20:N0} MiB, {_resident.End >> 20:N0} MiB", _resident.IsFlat),
            Zero("violations", _tally.Violations.Count),
            ("budget waits", $"{end.BudgetWaits:N0}", true),
        ];
        _allocator.Dispose();
        return results.TrueForAll(static result => result.IsGood);
    }

    private static (string What, string Is, bool IsGood) Zero(string what, long value) => (what, $"{value:N0}", value == 0);

    private void Print(List<(string What, string Is, bool IsGood)> results, TimeSpan elapsed)
    {
        Table table = new Table()
            .Border(TableBorder.Ascii)
            .AddColumn($"{elapsed.TotalSeconds:N0} s, {_options.Threads} threads, seed {_options.Seed}")
            .AddColumn("")
            .AddColumn("");
        foreach ((string what, long count) in _tally.Counts)
        {
            table.AddRow(what, $"{count:N0}", "");
        }

        foreach ((string what, string value, bool isGood) in results)
        {
            table.AddRow(what, value, isGood ? "good" : "WRONG");
        }

        AnsiConsole.Write(table);
        foreach (string violation in _tally.Violations.Take(10))
        {
            Console.WriteLine(violation);
        }
    }
}
