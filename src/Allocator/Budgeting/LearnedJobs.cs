using Allocator.Native;

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

/// <summary>What jobs of one name have needed. Allocates nothing once it is made. Thread-safe.</summary>
/// <remarks>
/// A job reserves what half of the jobs needed, and grows. <see cref="ClaimOf"/> is what it may need at most: <see cref="MemoryBudget"/>
/// keeps that free for one of the jobs that run, so that one can always end, and then the next.
/// </remarks>
[DebuggerDisplay("{Name}: {LearnedBytes} bytes, {Jobs} jobs, {Failures} failed")]
internal sealed class LearnedJob(string name)
{
    // Old sizes are forgotten after so many jobs.
    private const int RememberedJobs = 64;

    // Until so many have ended nothing is known of the largest.
    private const int FewJobs = 8;

    // Simulated with 75, 90 and 97: with this one most images of a burst of distinct ones were done.
    private const int Percentile = 97;
    private const int Median = 50;
    private const long Granularity = 64 * 1024;

    private readonly ShortLock _lock = new();
    private readonly long[] _needs = new long[RememberedJobs];
    private readonly long[] _sorted = new long[RememberedJobs];
    private long _jobs;
    private long _failures;
    private long _learnedBytes;
    private long _usualBytes;

    public string Name { get; } = name;

    /// <summary>Gets how many jobs have ended that used memory.</summary>
    public long Jobs => Volatile.Read(ref _jobs);

    /// <summary>Gets how many of them were refused memory.</summary>
    public long Failures => Volatile.Read(ref _failures);

    /// <summary>Gets the 97th percentile of what the last jobs needed, rounded up; 0 before one has ended.</summary>
    public long LearnedBytes => Volatile.Read(ref _learnedBytes);

    public long LastUse
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Returns what a job reserves now. Changes while it waits.</summary>
    public long SizeFor(MemoryBudget? budget)
    {
        long usual = Volatile.Read(ref _usualBytes);
        return usual == 0 ? ClaimOf(budget) : Math.Min(usual, Math.Max(budget?.RoomBytes ?? long.MaxValue, Granularity));
    }

    /// <summary>
    /// Returns what a job may need at most, as far as that is known. The fewer jobs have ended, the more is assumed, up to three fifths of
    /// what there is: the next one may be the largest yet. Of the very first nothing is known: three quarters.
    /// </summary>
    public long ClaimOf(MemoryBudget? budget)
    {
        long learned = LearnedBytes;
        long jobs = Jobs;
        long room = budget?.RoomBytes ?? long.MaxValue;
        if (jobs < RememberedJobs && room != long.MaxValue)
        {
            long assumed = jobs < FewJobs ? long.MaxValue : ByteCount.Add(learned, learned / jobs * (2 * FewJobs));
            learned = Math.Max(learned, Math.Min(assumed, jobs == 0 ? room / 4 * 3 : room / 5 * 3));
        }

        return Math.Max(Math.Min(learned, room), Granularity);
    }

    /// <summary>Notes what a job has needed, or would have. One that used nothing teaches nothing.</summary>
    public void End(long neededBytes, bool isRefused)
    {
        if (neededBytes <= 0)
        {
            return;
        }

        using ShortLock.Section section = _lock.Enter();
        _needs[_jobs % RememberedJobs] = neededBytes;
        Volatile.Write(ref _jobs, _jobs + 1);
        Volatile.Write(ref _failures, _failures + (isRefused ? 1 : 0));
        int count = (int)Math.Min(_jobs, RememberedJobs);
        Array.Copy(_needs, _sorted, count);
        Array.Sort(_sorted, 0, count);
        Volatile.Write(ref _learnedBytes, RoundUp(_sorted[count * Percentile / 100]));
        Volatile.Write(ref _usualBytes, RoundUp(_sorted[count * Median / 100]));
    }

    private static long RoundUp(long bytes) => ByteCount.Add(bytes, Granularity - 1) / Granularity * Granularity;
}
