using System.Numerics;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The needs of one allocator's jobs, by name. Holds only numbers and names, so it keeps neither memory nor an allocator
/// alive. Thread-safe.
/// </summary>
[DebuggerDisplay("{All.Count()} names")]
internal sealed class LearnedJobs
{
    /// <summary>How many names are remembered. A program that makes one up for each request must not fill the memory with them.</summary>
    public const int MaximumNames = 256;

    /// <summary>The most characters kept of a name. A longer one also gets a number, to tell it from others.</summary>
    public const int LongestName = 256;

    private readonly RecentlyUsed<string, LearnedJob> _all = new(MaximumNames, static name => new LearnedJob(name));

    public IEnumerable<LearnedJob> All => _all.Values;

    /// <summary>Reads the figures of all jobs: by name, and of each power of two of their sizes.</summary>
    public IEnumerable<MemoryJobStatistics> Read() => All.SelectMany(static job => job.ReadSizes());

    /// <summary>Returns the job of a name. For a new name, the least recently used one is forgotten.</summary>
    public LearnedJob Get(string name)
    {
        if (name.Length > LongestName)
        {
            name = $"{name.Substring(0, LongestName)}… {name.GetHashCode():x8}";
        }

        return _all.Get(name);
    }
}

/// <summary>The bytes that a job may take at most: from the allocator, and elsewhere in the process or its children.</summary>
internal readonly record struct JobClaim(long AllocatedBytes, long ElsewhereBytes)
{
    public long TotalBytes => ByteCount.Add(AllocatedBytes, ElsewhereBytes);
}

/// <summary>The needs of jobs of one name, by powers of two of their sizes. Thread-safe.</summary>
[DebuggerDisplay("{Name}")]
internal sealed class LearnedJob
{
    /// <summary>
    /// How many powers of two are remembered. For a new one, the least recently used is forgotten. More than lie between an icon and the
    /// largest scan: a size that was forgotten runs alone again, and holds up all others.
    /// </summary>
    public const int MaximumSizes = 32;

    private readonly RecentlyUsed<int, LearnedSize> _sizes;

    public LearnedJob(string name)
    {
        Name = name;
        _sizes = new RecentlyUsed<int, LearnedSize>(MaximumSizes, power => new LearnedSize(this, power));
    }

    public string Name { get; }

    /// <summary>Returns the history for jobs of that size, and of sizes within the same power of two.</summary>
    public LearnedSize Of(long size)
    {
        Debug.Assert(size > 0);
        return _sizes.Get(LearnedSize.PowerOf(size));
    }

    /// <summary>
    /// Returns the claim of a job of a size that has no history: that of the next smaller size, scaled up, or that of the next larger one.
    /// Null if nothing is known. Jobs of size 1, which have none, say nothing of others, nor others of them.
    /// </summary>
    public JobClaim? ClaimByNeighbours(long size)
    {
        int power = LearnedSize.PowerOf(size);
        LearnedSize? nearest = null;
        foreach (RecentlyUsed<int, LearnedSize>.Entry entry in _sizes.Entries)
        {
            LearnedSize other = entry.Value;
            bool isNearer = nearest is null || (other.Power < power
                ? nearest.Power > power || other.Power > nearest.Power
                : nearest.Power > power && other.Power < nearest.Power);
            bool isAlike = (other.Power == 0) == (power == 0);
            nearest = other.Jobs > 0 && isAlike && isNearer ? other : nearest;
        }

        return nearest?.ClaimOf(size);
    }

    /// <summary>Reads the figures of each power of two, from the smallest.</summary>
    public IEnumerable<MemoryJobStatistics> ReadSizes() =>
        _sizes.Values.OrderBy(static size => size.Power).Select(static size => size.Read());
}

/// <summary>The needs of the last jobs of one name and power of two. Allocates nothing once it is made. Thread-safe.</summary>
[DebuggerDisplay("2^{Power}: {ClaimOf(1)}, {Jobs} jobs")]
internal sealed class LearnedSize(LearnedJob job, int power)
{
    /// <summary>The least claim, and its steps, in bytes.</summary>
    public const long Granularity = 64 * 1024;

    /// <summary>How many jobs are the first of a size: two of them are to run alone, because the first also loads libraries.</summary>
    public const int FirstJobs = 12;

    private readonly ShortLock _lock = new();
    private readonly Needs _allocated = new();
    private readonly Needs _elsewhere = new();
    private long _jobs;
    private long _failures;
    private int _soloRuns;

    public LearnedJob Job { get; } = job;

    /// <summary>Gets the power of two of the sizes, rounded down.</summary>
    public int Power { get; } = power;

    /// <summary>Gets how many jobs have ended.</summary>
    public long Jobs => Volatile.Read(ref _jobs);

    /// <summary>Gets how many jobs ran alone, so that their use elsewhere is exact.</summary>
    public int SoloRuns => Volatile.Read(ref _soloRuns);

    /// <summary>Gets or sets how many run now. Under the lock of the running jobs.</summary>
    public int Running { get; set; }

    /// <summary>Gets or sets how many have ended whose use elsewhere could be seen. Under the lock of the running jobs.</summary>
    public long Seen { get; set; }

    /// <summary>Gets or sets how many wait to begin. Under the lock of the queue.</summary>
    public int Waiting { get; set; }

    /// <summary>
    /// Gets or sets the last pass over the queue in which a job of these sizes could not begin, its size, and what held it back.
    /// </summary>
    public (long Pass, long Size, JobHold Hold) Refused { get; set; }

    public static int PowerOf(long size) => 63 - BitOperations.LeadingZeroCount((ulong)size);

    /// <summary>Returns the most that the last jobs needed. The need of smaller ones is scaled up in proportion to the size.</summary>
    public JobClaim ClaimOf(long size)
    {
        using ShortLock.Section section = _lock.Enter();
        return new JobClaim(_allocated.Largest(size), _elsewhere.Largest(size));
    }

    /// <summary>Reads the figures.</summary>
    public MemoryJobStatistics Read()
    {
        using ShortLock.Section section = _lock.Enter();
        return new MemoryJobStatistics
        {
            Name = Job.Name,
            Size = 1L << Power,
            AllocatedBytes = _allocated.Largest(1),
            ElsewhereBytes = _elsewhere.Largest(1),
            BytesPerUnit = _allocated.LargestPart() + _elsewhere.LargestPart(),
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
        _allocated.Add(size, allocatedBytes);
        Volatile.Write(ref _jobs, _jobs + 1);
        Volatile.Write(ref _failures, _failures + (isRefused ? 1 : 0));
        if (elsewhereBytes is not long bytes)
        {
            return;
        }

        if (isSolo && _soloRuns == 1 && _jobs <= FirstJobs)
        {
            // The first job has loaded libraries, which stay: the others do not take that memory again. Later, what all have taken says
            // more than one that happens to run alone.
            _elsewhere.Forget();
        }

        _soloRuns += isSolo && _soloRuns < int.MaxValue ? 1 : 0;
        _elsewhere.Add(size, bytes);
    }
}

/// <summary>The needs of the last jobs. Not for concurrent callers.</summary>
internal sealed class Needs
{
    // A larger need is forgotten after as many jobs that needed less.
    private const int Remembered = 64;

    // Of jobs that need less than this part of the largest need, such as answers of a cache, one of as many counts: hundreds of them do
    // not tell what the next real work takes.
    private const int SmallPart = 8;

    private readonly (long Size, long Bytes)[] _last = new (long, long)[Remembered];
    private long _count;
    private long _small;

    public void Forget() => _count = 0;

    public void Add(long size, long bytes)
    {
        if (bytes >= Largest(size) / SmallPart || _small++ % SmallPart == 0)
        {
            _last[_count++ % Remembered] = (size, bytes);
        }
    }

    /// <summary>
    /// Returns the largest, in steps of <see cref="LearnedSize.Granularity"/>. Those of smaller jobs are scaled up to the size.
    /// </summary>
    public long Largest(long size)
    {
        long largest = 0;
        for (int i = 0; i < Math.Min(_count, Remembered); i++)
        {
            (long ofSize, long bytes) = _last[i];
            double scaled = size > ofSize ? (double)bytes / ofSize * size : bytes;
            largest = Math.Max(largest, scaled < ByteCount.LargestEstimate ? (long)scaled : ByteCount.LargestEstimate);
        }

        return ByteCount.RoundUp(largest, LearnedSize.Granularity);
    }

    /// <summary>Returns the most bytes for each unit of a size.</summary>
    public double LargestPart()
    {
        double largest = 0;
        for (int i = 0; i < Math.Min(_count, Remembered); i++)
        {
            largest = Math.Max(largest, (double)_last[i].Bytes / _last[i].Size);
        }

        return largest;
    }
}

/// <summary>
/// Values by key, made when they are first asked for. The least recently used makes room for a new one. Thread-safe, without a lock.
/// </summary>
internal sealed class RecentlyUsed<TKey, TValue>(int maximum, Func<TKey, TValue> make)
    where TKey : notnull
{
    private Entry[] _entries = [];
    private long _uses;

    /// <summary>Gets the entries, in no order.</summary>
    public Entry[] Entries => Volatile.Read(ref _entries);

    /// <summary>Gets the values, those that were used last first.</summary>
    public IEnumerable<TValue> Values =>
        Entries.OrderByDescending(static entry => entry.LastUse).Select(static entry => entry.Value);

    public TValue Get(TKey key)
    {
        long use = Interlocked.Increment(ref _uses);
        while (true)
        {
            Entry[] all = Entries;
            int oldest = 0;
            for (int i = 0; i < all.Length; i++)
            {
                if (EqualityComparer<TKey>.Default.Equals(all[i].Key, key))
                {
                    all[i].LastUse = use;
                    return all[i].Value;
                }

                oldest = all[i].LastUse < all[oldest].LastUse ? i : oldest;
            }

            Entry added = new(key, make(key)) { LastUse = use };
            Entry[] more = all.Length < maximum ? [.. all, added] : (Entry[])all.Clone();
            more[all.Length < maximum ? all.Length : oldest] = added;
            if (Interlocked.CompareExchange(ref _entries, more, all) == all)
            {
                return added.Value;
            }
        }
    }

    public sealed class Entry(TKey key, TValue value)
    {
        public TKey Key { get; } = key;

        public TValue Value { get; } = value;

        public long LastUse
        {
            get => Volatile.Read(ref field);
            set => Volatile.Write(ref field, value);
        }
    }
}
