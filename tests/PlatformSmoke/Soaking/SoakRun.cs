using System.Collections.Concurrent;
using System.Diagnostics;
using Allocator;
using ContractSuite.Loading;

namespace PlatformSmoke.Soaking;

/// <summary>
/// Allocates, disposes, abandons, reserves, waits, is interrupted and gives up on many threads, which come and go, with callbacks that
/// throw. At the end everything must have come back, and the resident set must have stayed flat.
/// </summary>
internal sealed class SoakRun
{
    // Threads end after so many operations, and others take their places.
    private const int OperationsOfAThread = 400;
    private const int BudgetMegabytes = 192;
    private const int CommitsBetweenFailures = 50;
    private const int ReleasesBetweenFailures = 10;

    // What the resident set may grow by beside noise: thread stacks, the collector's own heap, code.
    private const long Slack = 32L << 20;
    private const double Tolerance = 1.15;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_betweenSamples = TimeSpan.FromMilliseconds(100);

    private readonly TimeSpan _duration;
    private readonly ManagedHeap? _heap;
    private readonly Tally _tally = new();
    private readonly List<long> _residentSets = [];
    private readonly ConcurrentQueue<Holding> _handedOver = new();
    private readonly MemoryAllocator _allocator;
    private int _seed;
    private int _committed;
    private int _releasing;
    private int _callbacksThrow = 1;

    /// <summary>Makes a run.</summary>
    /// <param name="duration">How long the threads load the allocator.</param>
    /// <param name="exhausts">
    /// Whether the managed heap is filled to the last byte meanwhile, three times a second: for a process with
    /// <c>DOTNET_GCHeapHardLimit</c>.
    /// </param>
    public SoakRun(TimeSpan duration, bool exhausts)
    {
        _duration = duration;
        _heap = exhausts ? new ManagedHeap() : null;
        _allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            Name = "soak",
            MaximumPoolSizeMegabytes = 128,
            MemoryBudgetMegabytes = BudgetMegabytes,
            BudgetTimeout = TimeSpan.FromMilliseconds(20),
            TrimPeriod = TimeSpan.FromSeconds(1),
            BlockCommitted = (_, _) => ThrowNowAndThen(ref _committed, CommitsBetweenFailures),
            BlockReleasing = (_, _) => ThrowNowAndThen(ref _releasing, ReleasesBetweenFailures),
        });
    }

    public void Run(Checks checks)
    {
        using (CancellationTokenSource stop = new(_duration))
        {
            List<Thread> threads = Enumerable.Range(0, 2 * Environment.ProcessorCount)
                .Select(_ => new Thread(() => Replace(stop.Token)))
                .ToList();
            if (_heap is not null)
            {
                threads.Add(new Thread(() => _heap.Run(stop.Token)));
            }

            threads.ForEach(static thread => thread.Start());
            WaitHandle stopped = stop.Token.WaitHandle;

            // Made once: outside of Guard nothing may need managed memory.
            Action look = Look;
            while (!stopped.WaitOne(s_betweenSamples))
            {
                Guard(look);
            }

            threads.ForEach(static thread => thread.Join());
        }

        while (_handedOver.TryDequeue(out Holding? left))
        {
            left.Dispose();
        }

        Volatile.Write(ref _callbacksThrow, 0);
        AwaitTheEnd();
        CheckEnd(checks);
        _allocator.Dispose();
    }

    private void ThrowNowAndThen(ref int calls, int between)
    {
        if (Interlocked.Increment(ref calls) % between == 0 && Volatile.Read(ref _callbacksThrow) != 0)
        {
            throw new CallbackException();
        }
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
        RandomLoad load = new(_allocator, _tally, _handedOver, Interlocked.Increment(ref _seed), _heap is not null);
        if (_heap is not null)
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
        catch (OutOfMemoryException) when (_heap is not null)
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
        _residentSets.Add(ResidentSet.ReadBytes());
        MemoryAllocatorStatistics now = _allocator.GetStatistics();
        if (Math.Max(now.CommittedBytes, now.BudgetUsedBytes) > (long)BudgetMegabytes << 20)
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

    private void CheckEnd(Checks checks)
    {
        MemoryAllocatorStatistics end = _allocator.GetStatistics();
        Console.WriteLine(string.Join(", ", _tally.Counts.Select(static count => $"{count.Key} {count.Value:N0}")));
        Console.WriteLine(end);
        foreach (string violation in _tally.Violations.Take(10))
        {
            Console.WriteLine(violation);
        }

        long middle = MedianOfThird(1);
        long last = MedianOfThird(2);
        checks.Run($"violations: {_tally.Violations.Count:N0}", () => _tally.Violations.Count == 0);
        checks.Run("all is back", () => end is
        {
            OutstandingAllocations: 0, RentedBytes: 0, QuarantinedBytes: 0, CommittedBytes: 0, BudgetUsedBytes: 0,
        });
        checks.Run("a peak within the budget", () => end.PeakCommittedBytes <= (long)BudgetMegabytes << 20);
        checks.Run(
            $"the resident set stayed flat: {middle >> 20:N0} MiB in the middle, {last >> 20:N0} MiB at the end",
            () => last <= middle * Tolerance + Slack);
        if (_heap is null)
        {
            checks.Run($"what was abandoned was found: {end.Abandoned:N0}", () => end.Abandoned == _tally["abandoned"]);
        }
        else
        {
            checks.Run($"the managed heap was full {_heap.Times:N0} times", () => _heap.Times > 0);
        }
    }

    private long MedianOfThird(int third)
    {
        int count = Math.Max(1, _residentSets.Count / 3);
        long[] part = _residentSets.Skip(third * _residentSets.Count / 3).Take(count).Order().ToArray();
        return part.Length == 0 ? 0 : part[part.Length / 2];
    }
}
