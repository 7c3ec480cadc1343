namespace Measurements.Latency;

/// <summary>What goes on while rents are timed.</summary>
internal enum Disturbance
{
    Nothing,

    Trims,

    Collections,

    Crowd,

    FullPool,
}

/// <summary>Times each of many rents, and not the return, while something else goes on.</summary>
internal static class LatencyTrial
{
    private const int WarmUp = 50_000;
    private const int SmallPool = 8;
    private const int TrimmedBlocks = 16;

    public static LatencyHistogram Run(string subject, Disturbance disturbance, int rents)
    {
        bool isFull = disturbance == Disturbance.FullPool;
        using LatencySubject rented = LatencySubject.Create(subject, isFull ? SmallPool : LatencySubject.Blocks);
        Time(rented, WarmUp, letsRun: false);
        List<object> held = [];
        for (int i = 0; i < (isFull ? SmallPool : 0); i++)
        {
            held.Add(rented.Rent());
        }

        int threads = disturbance == Disturbance.Crowd ? 500 : 1;
        bool isOver = false;
        Thread neighbour = new(() =>
        {
            while (!Volatile.Read(ref isOver))
            {
                Disturb(rented, disturbance);
            }
        });
        LatencyHistogram all = new();
        neighbour.Start();
        Thread[] crowd =
        [
            .. Enumerable.Range(0, threads).Select(_ => new Thread(() =>
            {
                LatencyHistogram mine = Time(rented, rents / threads, letsRun: threads > 1);
                lock (all)
                {
                    all.Add(mine);
                }
            }, 256 * 1024)),
        ];
        Array.ForEach(crowd, thread => thread.Start());
        Array.ForEach(crowd, thread => thread.Join());
        Volatile.Write(ref isOver, true);
        neighbour.Join();
        held.ForEach(rented.Return);
        return all;
    }

    private static LatencyHistogram Time(LatencySubject subject, int rents, bool letsRun)
    {
        LatencyHistogram times = new();
        for (int i = 0; i < rents; i++)
        {
            long start = Stopwatch.GetTimestamp();
            object memory = subject.Rent();
            long end = Stopwatch.GetTimestamp();
            times.Add((long)((end - start) * (1e9 / Stopwatch.Frequency)));
            if (letsRun)
            {
                Thread.Yield();
            }

            subject.Return(memory);
        }

        return times;
    }

    private static void Disturb(LatencySubject subject, Disturbance disturbance)
    {
        switch (disturbance)
        {
            case Disturbance.Trims:
                object[] burst = [.. Enumerable.Range(0, TrimmedBlocks).Select(_ => subject.Rent())];
                Array.ForEach(burst, subject.Touch);
                Array.ForEach(burst, subject.Return);
                subject.Trim();
                break;
            case Disturbance.Collections:
                GC.Collect();
                break;
            default:
                Thread.Sleep(1);
                break;
        }
    }
}
