namespace Allocator.Diagnostics;

/// <summary>The figures of an allocator, in the order of the instruments. Those from <see cref="Rents"/> on only grow.</summary>
internal enum UsageFigure
{
    RentedBytes,
    RetainedBytes,
    CommittedBytes,
    PeakCommittedBytes,
    QuarantinedBytes,
    Outstanding,
    BudgetUsedBytes,
    BudgetLimitBytes,
    Rents,
    PoolHits,
    PoolMisses,
    Abandoned,
    Retries,
    BudgetWaits,
    NativeHeapTrims,
    NativeHeapTrimmedBytes,
    NativeHeapTrimMilliseconds,

    /// <summary>The first of several figures, one for each reason. <see cref="Trims"/> is another such first.</summary>
    TrimmedBytes,
    Trims = TrimmedBytes + AllocatorCounters.TrimReasons,
    Count = Trims + AllocatorCounters.TrimReasons,
}

/// <summary>
/// The registry of all allocators, by name, for process-wide figures and metrics. It keeps the totals of ended allocators, so totals never
/// fall. It references no allocator and keeps none alive. Thread-safe.
/// </summary>
internal static class UsageRegistry
{
    // The most names kept without an allocator, so that a program which makes up a name for each allocator does not fill memory.
    public const int MaximumEndedNames = 1000;

    // A return of memory never takes this lock.
    private static readonly ShortLock s_lock = new(mayAllocate: true);
    private static readonly LinkedList<IUsageSource> s_all = new();

    // The allocators that have ended, and make no new allocation.
    private static readonly List<LinkedListNode<IUsageSource>> s_ending = [];
    private static readonly Dictionary<string, NamedUsage> s_names = [];
    private static readonly LinkedList<string> s_endedNames = new();

    // Made with the class: the type initializer of a lambda's class may first run without managed memory, and then fails for ever.
    private static readonly Predicate<LinkedListNode<IUsageSource>> s_forgetIfEmpty = ForgetIfEmpty;
    private static int s_nextSweep = 16;

    /// <summary>Gets how many allocations of all allocators are outstanding.</summary>
    public static long OutstandingAllocations => Read().Sum(OutstandingOf);

    /// <summary>Adds an allocator. The reporters on allocators exist from here on.</summary>
    /// <returns>The registration for <see cref="End"/>. If the caller fails after this, it calls that.</returns>
    public static LinkedListNode<IUsageSource> Register(IUsageSource source)
    {
        _ = AllocatorEventSource.Log;
        MemoryDiagnostics.EnsureSettings();
        AllocatorMeter.Ensure();
        LinkedListNode<IUsageSource> registration = new(source);
        using (s_lock.Enter())
        {
            string name = NameOf(source);
            if (!s_names.TryGetValue(name, out NamedUsage? named))
            {
                s_names.Add(name, named = new NamedUsage(name));
            }

            if (named.Ended.List is not null)
            {
                s_endedNames.Remove(named.Ended);
            }

            named.Live++;
            s_all.AddLast(registration);
            BackgroundThread.IsUnused = false;
        }

        return registration;
    }

    /// <summary>Notes that an allocator makes no new allocation: it is counted until all its memory is back. May be repeated.</summary>
    public static void End(LinkedListNode<IUsageSource> registration)
    {
        using (s_lock.Enter())
        {
            if (!ForgetIfEmpty(registration))
            {
                s_ending.Add(registration);
                if (s_ending.Count >= s_nextSweep)
                {
                    Sweep();
                }
            }
        }

        if (BackgroundThread.IsUnused)
        {
            BackgroundThread.Shared.NoteUnused();
            BackgroundThread.Long.NoteUnused();
            UserCallbacks.Thread.NoteUnused();
        }
    }

    public static NamedFigures[] Read()
    {
        using ShortLock.Section section = s_lock.Enter();
        Sweep();
        foreach (NamedUsage named in s_names.Values)
        {
            Array.Clear(named.Now, 0, named.Now.Length);
        }

        foreach (IUsageSource source in s_all)
        {
            source.AddTo(s_names[NameOf(source)].Now);
        }

        NamedFigures[] all = new NamedFigures[s_names.Count];
        int count = 0;
        foreach (KeyValuePair<string, NamedUsage> named in s_names)
        {
            all[count++] = new NamedFigures(named.Key, named.Value.Report(), named.Value.Live > 0);
        }

        return all;
    }

    /// <summary>Reads the jobs' needs, by the names of allocator and job. Jobs of allocators with one name are added up.</summary>
    public static Dictionary<(string Allocator, string Job), MemoryJobStatistics> ReadJobs()
    {
        Dictionary<(string Allocator, string Job), MemoryJobStatistics> all = [];
        using (s_lock.Enter())
        {
            foreach (IUsageSource source in s_all)
            {
                foreach (MemoryJobStatistics job in source.ReadJobs())
                {
                    (string, string) key = (NameOf(source), job.Name);
                    all[key] = all.TryGetValue(key, out MemoryJobStatistics other) ? MemoryJobStatistics.Merge(job, other) : job;
                }
            }
        }

        return all;
    }

    private static long OutstandingOf(NamedFigures named) => named[UsageFigure.Outstanding];

    private static string NameOf(IUsageSource source) => source.Counters.AllocatorName ?? "";

    private static void Sweep()
    {
        s_ending.RemoveAll(s_forgetIfEmpty);

        // So rarely that checking the remaining ones costs no more than adding them did.
        s_nextSweep = Math.Max(16, 2 * s_ending.Count);
    }

    // Needs no memory. True if it is forgotten already: a dropped allocator's finalizer and a user's finalizer may both end it.
    private static bool ForgetIfEmpty(LinkedListNode<IUsageSource> registration)
    {
        if (registration.List is null || registration.Value.HasMemory)
        {
            return registration.List is null;
        }

        NamedUsage named = s_names[NameOf(registration.Value)];
        s_all.Remove(registration);
        BackgroundThread.IsUnused = s_all.Count == 0;
        if (AllocatorMeter.IsMade)
        {
            // Before that, no listener has seen a figure that could fall, and reading costs the first allocator more than making it.
            registration.Value.AddTo(named.OfEnded);
        }

        if (--named.Live == 0)
        {
            s_endedNames.AddLast(named.Ended);
            if (s_endedNames.Count > MaximumEndedNames)
            {
                s_names.Remove(s_endedNames.First!.Value);
                s_endedNames.RemoveFirst();
            }
        }

        return true;
    }

    /// <summary>The figures of all allocators of one name, ended ones included.</summary>
    private sealed class NamedUsage(string name)
    {
        public readonly long[] Now = new long[(int)UsageFigure.Count];
        public readonly long[] OfEnded = new long[(int)UsageFigure.Count];
        private readonly long[] _reported = new long[(int)UsageFigure.Count];

        /// <summary>Gets or sets how many allocators of the name have not ended.</summary>
        public int Live { get; set; }

        /// <summary>Gets the name's place among those without an allocator. It is in no list while there is one.</summary>
        public LinkedListNode<string> Ended { get; } = new(name);

        // No figure that only grows is ever reported lower than before, whatever other threads do while it is read.
        public long[] Report()
        {
            long[] figures = (long[])Now.Clone();
            for (int i = (int)UsageFigure.Rents; i < figures.Length; i++)
            {
                figures[i] = _reported[i] = Math.Max(_reported[i], Now[i] + OfEnded[i]);
            }

            return figures;
        }
    }
}

/// <summary>One collection's reading of all allocators of one name.</summary>
/// <param name="Name">The name; empty for those without.</param>
/// <param name="Values">By <see cref="UsageFigure"/>.</param>
/// <param name="IsLive">Whether there is any; otherwise only the totals of ended ones are reported.</param>
internal sealed record NamedFigures(string Name, long[] Values, bool IsLive)
{
    public long this[UsageFigure figure] => Values[(int)figure];
}

/// <summary>An allocator as the metrics see it.</summary>
internal interface IUsageSource
{
    AllocatorCounters Counters { get; }

    /// <summary>Gets whether any memory is outstanding, idle or quarantined, so that its figures still change.</summary>
    bool HasMemory { get; }

    /// <summary>Adds its figures, by <see cref="UsageFigure"/>. Takes no memory.</summary>
    void AddTo(long[] figures);

    /// <summary>Reads its jobs that have a name.</summary>
    IEnumerable<MemoryJobStatistics> ReadJobs();
}
