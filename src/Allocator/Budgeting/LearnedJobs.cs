namespace Allocator.Budgeting;

/// <summary>
/// What the jobs of one allocator have needed, by their names. Holds only numbers and names, so it keeps neither memory nor an allocator
/// alive. Thread-safe.
/// </summary>
[DebuggerDisplay("{All.Length} names")]
internal sealed class LearnedJobs
{
    /// <summary>How many names are remembered. A program that makes one up for each request must not fill the memory with them.</summary>
    public const int MaximumNames = 256;

    /// <summary>The most characters kept of a name. A longer one also gets a number, to tell it from others.</summary>
    public const int LongestName = 256;

    private LearnedJob[] _all = [];
    private long _uses;

    public LearnedJob[] All => Volatile.Read(ref _all);

    /// <summary>Returns the job of a name. For a new name, the least recently used one is forgotten.</summary>
    public LearnedJob Get(string name)
    {
        if (name.Length > LongestName)
        {
            name = $"{name.Substring(0, LongestName)}… {name.GetHashCode():x8}";
        }

        long use = Interlocked.Increment(ref _uses);
        while (true)
        {
            LearnedJob[] all = All;
            int oldest = 0;
            for (int i = 0; i < all.Length; i++)
            {
                if (all[i].Name == name)
                {
                    all[i].LastUse = use;
                    return all[i];
                }

                oldest = all[i].LastUse < all[oldest].LastUse ? i : oldest;
            }

            LearnedJob added = new(name) { LastUse = use };
            LearnedJob[] more = all.Length < MaximumNames ? [.. all, added] : (LearnedJob[])all.Clone();
            more[all.Length < MaximumNames ? all.Length : oldest] = added;
            if (Interlocked.CompareExchange(ref _all, more, all) == all)
            {
                return added;
            }
        }
    }
}

/// <summary>What jobs of one name have needed, and so what the next one reserves. Takes no memory once made. Thread-safe.</summary>
[DebuggerDisplay("{Name}: {LearnedBytes} bytes, {Jobs} jobs, {Failures} failed")]
internal sealed class LearnedJob(string name)
{
    /// <summary>
    /// The number of jobs from which their needs are believed. Before that, a job reserves a part of all memory, if that is more: three
    /// quarters at first, then less and less. So a few small jobs at first do not let in too many large ones.
    /// </summary>
    public const int EnoughJobs = 16;

    // Old sizes are forgotten after so many jobs.
    private const int RememberedJobs = 64;

    // 75, 90 and 97 were simulated; with 97 the most jobs of a burst of distinct images were done.
    private const int Percentile = 97;
    private const long Granularity = 64 * 1024;

    private readonly ShortLock _lock = new();
    private readonly long[] _needs = new long[RememberedJobs];
    private long _jobs;
    private long _failures;
    private long _learnedBytes;
    private long _lastUse;

    public string Name { get; } = name;

    /// <summary>Gets how many jobs that used memory have ended.</summary>
    public long Jobs => Volatile.Read(ref _jobs);

    /// <summary>Gets how many of them were refused memory.</summary>
    public long Failures => Volatile.Read(ref _failures);

    /// <summary>Gets the percentile of the last jobs' needs, rounded up; 0 before one has ended.</summary>
    public long LearnedBytes => Volatile.Read(ref _learnedBytes);

    public long LastUse
    {
        get => Volatile.Read(ref _lastUse);
        set => Volatile.Write(ref _lastUse, value);
    }

    /// <summary>Returns what a job reserves now. Changes while it waits.</summary>
    public long SizeFor(MemoryBudget? budget)
    {
        long learned = LearnedBytes;
        long room = budget?.RoomBytes ?? long.MaxValue;
        long size = Jobs >= EnoughJobs || room == long.MaxValue ? learned : Math.Max(learned, room / Math.Max(4, Jobs) * 3);
        return Math.Max(Math.Min(size, room), Granularity);
    }

    /// <summary>Notes how much a job needed, or would have needed. A job that used nothing is ignored.</summary>
    public void End(long neededBytes, bool isRefused)
    {
        if (neededBytes <= 0)
        {
            return;
        }

        using (_lock.Enter())
        {
            _needs[_jobs % RememberedJobs] = neededBytes;
            Volatile.Write(ref _jobs, _jobs + 1);
            Volatile.Write(ref _failures, _failures + (isRefused ? 1 : 0));
            int count = (int)Math.Min(_jobs, RememberedJobs);
            bool isLargest = count - 1 - count * Percentile / 100 == 0;
            long largest = 0;
            long second = 0;
            for (int i = 0; i < count; i++)
            {
                second = Math.Max(second, Math.Min(largest, _needs[i]));
                largest = Math.Max(largest, _needs[i]);
            }

            // Of up to 64 the percentile is the largest or the one below it.
            long needed = isLargest ? largest : second;
            Volatile.Write(ref _learnedBytes, (needed + Granularity - 1) / Granularity * Granularity);
        }
    }
}
