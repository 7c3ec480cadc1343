using System.Numerics;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The needs of one allocator's jobs, by name. Holds only numbers and names, so it keeps neither memory nor an allocator
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

    /// <summary>Reads the figures of all jobs: by name, and of each power of two of their sizes.</summary>
    public IEnumerable<MemoryJobStatistics> Read() => All.SelectMany(static job => job.ReadSizes());

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

/// <summary>The bytes that a job may take at most: from the allocator, and elsewhere in the process or its children.</summary>
internal readonly record struct JobClaim(long AllocatedBytes, long ElsewhereBytes)
{
    public long TotalBytes => ByteCount.Add(AllocatedBytes, ElsewhereBytes);
}

/// <summary>The needs of jobs of one name, by powers of two of their sizes. Thread-safe.</summary>
[DebuggerDisplay("{Name}")]
internal sealed class LearnedJob(string name)
{
    /// <summary>
    /// How many powers of two are remembered. For a new one, the least recently used is forgotten. More than lie between an icon and the
    /// largest scan: a size that was forgotten runs alone again, and holds up all others.
    /// </summary>
    public const int MaximumSizes = 32;

    private LearnedSize[] _sizes = [];
    private long _uses;

    public string Name { get; } = name;

    public long LastUse
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Returns the history for jobs of that size, and of sizes within the same power of two.</summary>
    public LearnedSize Of(long size)
    {
        Debug.Assert(size > 0);
        int power = LearnedSize.PowerOf(size);
        long use = Interlocked.Increment(ref _uses);
        while (true)
        {
            LearnedSize[] all = Volatile.Read(ref _sizes);
            int oldest = 0;
            for (int i = 0; i < all.Length; i++)
            {
                if (all[i].Power == power)
                {
                    all[i].LastUse = use;
                    return all[i];
                }

                oldest = all[i].LastUse < all[oldest].LastUse ? i : oldest;
            }

            LearnedSize added = new(this, power) { LastUse = use };
            LearnedSize[] more = all.Length < MaximumSizes ? [.. all, added] : (LearnedSize[])all.Clone();
            more[all.Length < MaximumSizes ? all.Length : oldest] = added;
            if (Interlocked.CompareExchange(ref _sizes, more, all) == all)
            {
                return added;
            }
        }
    }

    /// <summary>
    /// Returns the claim of a job of a size that has no history: that of the next smaller size, scaled up, or that of the next larger one.
    /// Null if nothing is known.
    /// </summary>
    public JobClaim? ClaimByNeighbours(long size)
    {
        int power = LearnedSize.PowerOf(size);
        LearnedSize? nearest = null;
        foreach (LearnedSize other in Volatile.Read(ref _sizes))
        {
            bool isNearer = nearest is null || (other.Power < power
                ? nearest.Power > power || other.Power > nearest.Power
                : nearest.Power > power && other.Power < nearest.Power);
            nearest = other.Jobs > 0 && isNearer ? other : nearest;
        }

        return nearest?.ClaimOf(size);
    }

    /// <summary>Reads the figures of each power of two, from the smallest.</summary>
    public IEnumerable<MemoryJobStatistics> ReadSizes() =>
        Volatile.Read(ref _sizes).OrderBy(static size => size.Power).Select(static size => size.Read());
}

/// <summary>The needs of the last jobs of one name and power of two. Allocates nothing once it is made. Thread-safe.</summary>
[DebuggerDisplay("2^{Power}: {LargestClaim}, {Jobs} jobs")]
internal sealed class LearnedSize(LearnedJob job, int power)
{
    // A larger need is forgotten after as many jobs that needed less.
    private const int RememberedJobs = 64;

    /// <summary>The least claim, and its steps, in bytes.</summary>
    public const long Granularity = 64 * 1024;

    private readonly ShortLock _lock = new();
    private readonly (long Size, long Bytes)[] _allocated = new (long, long)[RememberedJobs];
    private readonly (long Size, long Bytes)[] _elsewhere = new (long, long)[RememberedJobs];
    private long _jobs;
    private long _failures;
    private long _elsewhereCount;
    private int _soloRuns;

    public LearnedJob Job { get; } = job;

    /// <summary>Gets the power of two of the sizes, rounded down.</summary>
    public int Power { get; } = power;

    /// <summary>Gets how many jobs have ended.</summary>
    public long Jobs => Volatile.Read(ref _jobs);

    /// <summary>Gets how many jobs ran alone, so that their use elsewhere is exact.</summary>
    public int SoloRuns => Volatile.Read(ref _soloRuns);

    /// <summary>Gets the claim of the largest job of this power of two that was seen.</summary>
    public JobClaim LargestClaim => ClaimOf(1);

    /// <summary>Gets or sets how many run now. Under the lock of the running jobs.</summary>
    public int Running { get; set; }

    /// <summary>Gets or sets how many wait to begin. Under the lock of the queue.</summary>
    public int Waiting { get; set; }

    /// <summary>Gets or sets the last pass over the queue that found no room for a job of these sizes, and the size of that job.</summary>
    public (long Pass, long Size) Refused { get; set; }

    public long LastUse
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    public static int PowerOf(long size) => 63 - BitOperations.LeadingZeroCount((ulong)size);

    /// <summary>Returns the most that the last jobs needed. The need of smaller ones is scaled up in proportion to the size.</summary>
    public JobClaim ClaimOf(long size)
    {
        using ShortLock.Section section = _lock.Enter();
        return new JobClaim(Largest(_allocated, _jobs, size), Largest(_elsewhere, _elsewhereCount, size));
    }

    /// <summary>Reads the figures.</summary>
    public MemoryJobStatistics Read()
    {
        using ShortLock.Section section = _lock.Enter();
        return new MemoryJobStatistics
        {
            Name = Job.Name,
            Size = 1L << Power,
            AllocatedBytes = Largest(_allocated, _jobs, 1),
            ElsewhereBytes = Largest(_elsewhere, _elsewhereCount, 1),
            BytesPerUnit = LargestPart(_allocated, _jobs) + LargestPart(_elsewhere, _elsewhereCount),
            Running = Running,
            Waiting = Waiting,
            Ended = _jobs,
            Refused = _failures,
        };
    }

    /// <summary>Notes the end of a job.</summary>
    /// <param name="size">Its size.</param>
    /// <param name="allocatedBytes">The most that it had of the allocator, or would have needed.</param>
    /// <param name="elsewhereBytes">The most that it is thought to have taken elsewhere; null if that teaches nothing.</param>
    /// <param name="isSolo">Whether it ran alone.</param>
    /// <param name="isRefused">Whether it was refused memory.</param>
    public void End(long size, long allocatedBytes, long? elsewhereBytes, bool isSolo, bool isRefused)
    {
        using ShortLock.Section section = _lock.Enter();
        _allocated[_jobs % RememberedJobs] = (size, allocatedBytes);
        Volatile.Write(ref _jobs, _jobs + 1);
        Volatile.Write(ref _failures, _failures + (isRefused ? 1 : 0));
        if (elsewhereBytes is not long bytes)
        {
            return;
        }

        if (isSolo && _soloRuns == 1)
        {
            // The first job has loaded libraries, which stay: the others do not take that memory again.
            _elsewhereCount = 0;
        }

        _soloRuns = Math.Min(_soloRuns + (isSolo ? 1 : 0), RememberedJobs);
        _elsewhere[_elsewhereCount++ % RememberedJobs] = (size, bytes);
    }

    private static double LargestPart((long Size, long Bytes)[] needs, long count)
    {
        double largest = 0;
        for (int i = 0; i < Math.Min(count, needs.Length); i++)
        {
            largest = Math.Max(largest, (double)needs[i].Bytes / needs[i].Size);
        }

        return largest;
    }

    private static long Largest((long Size, long Bytes)[] needs, long count, long size)
    {
        long largest = 0;
        for (int i = 0; i < Math.Min(count, needs.Length); i++)
        {
            (long ofSize, long bytes) = needs[i];
            double scaled = size > ofSize ? (double)bytes / ofSize * size : bytes;
            largest = Math.Max(largest, scaled < ByteCount.LargestEstimate ? (long)scaled : ByteCount.LargestEstimate);
        }

        return ByteCount.RoundUp(largest, Granularity);
    }
}
