namespace LoadResizeSave.Containers;

/// <summary>
/// The child in a container: does its jobs with one way of having memory, and writes a line about each of them as it ends.
/// </summary>
internal sealed class ContainedJobs(ContainedOptions options, Action<ContainerMessage> send)
{
    private const int ReportAttempts = 200;

    private static readonly TimeSpan s_explainPeriod = TimeSpan.FromMilliseconds(25);
    private static readonly TimeSpan s_reportPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_finding = TimeSpan.FromMilliseconds(100);

    // What was abandoned comes back after a collection and a trim period, each of which may just have begun.
    private static readonly TimeSpan s_findingPatience = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan s_usualTrimPeriod = new MemoryAllocatorOptions().TrimPeriod;

    private readonly CgroupMemory? _cgroup = CgroupMemory.OfThisProcess();
    private int _next;

    public static ChildTask<ContainedOptions, ContainerMessage> Task { get; } = new(
        "contained",
        ContainerJson.Default.ContainedOptions,
        ContainerJson.Default.ContainerMessage,
        static (options, send) => new ContainedJobs(options, send).Run());

    public void Run()
    {
        TimeSpan trimPeriod = options.TrimPeriodSeconds is { } seconds ? TimeSpan.FromSeconds(seconds) : s_usualTrimPeriod;
        MemoryWay way = MemoryWay.Get(options.Way);
        if (way.SetsMapThreshold)
        {
            _ = NativeHeap.TrySetMapThreshold(MemoryWay.MapThresholdInBytes);
        }

        using PixelStore store = way.CreateStore(options.LimitMegabytes, trimPeriod);
        PictureJob job = new(store);
        int burst = 0;
        using ThreadTeam workers = new(options.Workers, (_, _) => Work(job, burst));
        using Timer? explaining = options.Explains ? new Timer(
            _ => Report(new ContainerMessage { Memory = Read(store) }), null, TimeSpan.Zero, s_explainPeriod) : null;
        Report(new ContainerMessage { Begins = true });
        long started = Stopwatch.GetTimestamp();
        for (; burst < options.Bursts; burst++)
        {
            workers.Run(1);
        }

        double wall = Stopwatch.GetElapsedTime(started).TotalSeconds;
        Settle(store);
        Report(new ContainerMessage { Run = new RunMessage { Seconds = wall, Statistics = store.Statistics } });
    }

    private void Work(PictureJob job, int burst)
    {
        int end = options.Jobs * (burst + 1) / options.Bursts;
        for (int i = Take(end); i < end; i = Take(end))
        {
            string picture = options.Pictures[i % options.Pictures.Count];
            Report(new ContainerMessage { Job = job.Run(picture, options.Kinds[i % options.Kinds.Count]) with { Burst = burst } });
        }
    }

    // A number from the end on is left for the next burst.
    private int Take(int end)
    {
        int next = Volatile.Read(ref _next);
        while (next < end)
        {
            int seen = Interlocked.CompareExchange(ref _next, next + 1, next);
            if (seen == next)
            {
                return next;
            }

            next = seen;
        }

        return end;
    }

    // What was abandoned is found by collections.
    private void Settle(PixelStore store)
    {
        store.Release();
        Thread.Sleep(TimeSpan.FromSeconds(options.SettleSeconds));
        long started = Stopwatch.GetTimestamp();
        while (options.SettleSeconds > 0 && store.Statistics is { } statistics && HasMemoryOut(statistics)
            && Stopwatch.GetElapsedTime(started) < s_findingPatience)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Thread.Sleep(s_finding);
        }
    }

    public static bool HasMemoryOut(MemoryAllocatorStatistics statistics)
        => statistics is not { OutstandingAllocations: 0, RentedBytes: 0, QuarantinedBytes: 0, BudgetUsedBytes: 0 };

    private MemoryReading Read(PixelStore store)
    {
        MallocState malloc = MallocState.Read();
        long heap = GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes;
        return new MemoryReading(_cgroup?.UnreclaimableBytes ?? 0, store.CommittedBytes, heap, malloc.HeldBytes, malloc.FreeBytes);
    }

    // Where the managed heap is full, that is what is measured: saying so must not end the process. Another job's arrays are garbage soon.
    private void Report(ContainerMessage message)
    {
        for (int i = 0; ; i++)
        {
            try
            {
                send(message);
                return;
            }
            catch (OutOfMemoryException) when (i < ReportAttempts)
            {
                Thread.Sleep(s_reportPause);
            }
        }
    }
}
