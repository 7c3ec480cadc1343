using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>What holds a job back, whatever room there is.</summary>
internal enum JobHold
{
    None,

    /// <summary>Another job is to run alone for a moment, or the base is to be read: for a second at most.</summary>
    Briefly,

    /// <summary>As many of its size run as may, or the first of a new name does: only the end of such a job helps.</summary>
    ByItsName,
}

/// <summary>One reservation that runs, or asks to: how much it may take, and how much it has taken elsewhere.</summary>
internal sealed class RunningJob
{
    private const int LongMilliseconds = 60_000;

    private readonly long _givenBytes;
    private JobClaim _known;
    private long _knownJobs;

    /// <summary>Makes a job whose claim the caller gives, in bytes of the allocator.</summary>
    public RunningJob(long bytes)
    {
        _givenBytes = bytes;
        Node = new LinkedListNode<RunningJob>(this);
    }

    /// <summary>Makes a job whose claim is learned.</summary>
    public RunningJob(LearnedSize learned, long size)
        : this(0)
    {
        Learned = learned;
        Size = size;
    }

    /// <summary>Gets the history that it learns from. Null if the caller gave its claim.</summary>
    public LearnedSize? Learned { get; }

    public long Size { get; }

    public LinkedListNode<RunningJob> Node { get; }

    /// <summary>Gets or sets the account of the allocator's memory that it holds. Set before it begins.</summary>
    public ReservationAccount? Account { get; set; }

    /// <summary>Gets or sets the budget in which it runs. Set under the lock of the running jobs, as all that follows.</summary>
    public MemoryBudget? Budget { get; set; }

    /// <summary>Gets or sets its claim when it began.</summary>
    public JobClaim Claim { get; set; }

    /// <summary>Gets or sets whether nothing was known of such jobs when it began.</summary>
    public bool IsUnknown { get; set; }

    /// <summary>Gets or sets what held it back at the last attempt.</summary>
    public JobHold Hold { get; set; }

    /// <summary>Gets or sets whether it does not wait for the base to be read. Set before it is posted.</summary>
    public bool ForgoesBase { get; set; }

    public long BeganMilliseconds { get; set; }

    /// <summary>Gets or sets whether no other job has run at the same time.</summary>
    public bool IsSolo { get; set; }

    /// <summary>Gets or sets its weight in sharing what all jobs take elsewhere, as of the last reading.</summary>
    public long Weight { get; set; }

    /// <summary>Gets or sets the most that it is thought to have taken elsewhere.</summary>
    public long PeakElsewhereBytes { get; set; }

    /// <summary>
    /// Returns whether it runs for long, such as a stream. Then it does not keep the base from being read (what it takes is in the base),
    /// and its growth no longer goes ahead of newcomers.
    /// </summary>
    public bool IsLong(long now) => now - BeganMilliseconds >= LongMilliseconds;

    /// <summary>Returns what is known of its need now. Null if nothing is. Not for concurrent callers.</summary>
    public JobClaim? FindClaim()
    {
        if (Learned is not { } learned)
        {
            return new JobClaim(_givenBytes, 0);
        }

        long jobs = learned.Jobs;
        if (jobs == 0)
        {
            return learned.Job.ClaimByNeighbours(Size);
        }

        // A job that waits is asked again and again, and only the end of another changes what is known.
        if (_knownJobs != jobs)
        {
            _knownJobs = jobs;
            _known = learned.ClaimOf(Size);
        }

        return _known;
    }
}

/// <summary>
/// The jobs that run in the process, and what they use elsewhere: all that the container uses beyond the memory of the library and beyond
/// the base, which is what it used when no job ran. Under one short lock; allocates nothing.
/// </summary>
/// <remarks>
/// A job that runs alone teaches exactly what it takes elsewhere. Of jobs that run together only the sum is known: their shares, in
/// proportion to their claims, raise a claim and never lower one.
/// </remarks>
[DebuggerDisplay("{_jobs.Count} jobs, base {BaseBytes}, elsewhere {_othersBytes}")]
internal sealed class RunningJobs(ShortLock shortLock)
{
    // At most a quarter as many jobs of a size run at once as have ended, and two in any case: the largest may not have been seen yet.
    private const int EndedForEach = 4;

    // The first jobs of a size run alone: the first also loads libraries. Jobs that take longer than others wait for that never are: once
    // three may run at once, their shares must do.
    private const int SoloRuns = 2;

    // How long others wait for a job that has to run alone, or of which nothing is known.
    private const int ExclusiveMilliseconds = 1000;

    // How long a second job of a name waits for the end of the first: its claim would be half of what that one has left, and a job whose
    // claim is too small may be refused. On a busy machine the first one takes seconds, because .NET compiles it and libraries are loaded.
    private const int FirstOfNameMilliseconds = 10_000;

    // malloc keeps what jobs have freed, until it is trimmed: at ticks within this time after the last job.
    private const int SettledMilliseconds = 1000;

    // After a job that ran alone, the base is read again if the last reading is older than this.
    private const int BaseMilliseconds = 10_000;

    // A reading takes some tens of microseconds.
    private const int SoloReadingMilliseconds = 5;
    private const int ReadingMilliseconds = 20;

    // The most garbage that there was is remembered for this time, and for as long again.
    private const int GarbageMilliseconds = 5 * 60_000;

    // A job is small beside another if it claims less than this part of it.
    private const int SmallPart = 8;

    private const long LeastShare = 64 * 1024;

    private readonly LinkedList<RunningJob> _jobs = new();
    private long _elsewhereClaims;
    private long _othersBytes;
    private long _garbageBytes;
    private long _earlierGarbageBytes;
    private long _garbageSince;
    private long _idleSince;
    private long _baseReadMilliseconds;
    private long? _baseDueSince;

    public ShortLock Lock { get; } = shortLock;

    public int Count => _jobs.Count;

    /// <summary>Gets what others used when no job ran. Negative before the first reading.</summary>
    public long BaseBytes { get; private set; } = -1;

    /// <summary>
    /// Gets whether the base is to be read before another learned job begins: what the last one left behind, such as libraries and caches,
    /// is no part of the next one's need.
    /// </summary>
    public bool IsBaseDue => _baseDueSince is not null;

    /// <summary>Gets whether garbage of the last job would be in it: the next one runs alone, and is measured against it.</summary>
    public bool IsGarbageInBase { get; private set; }

    /// <summary>Returns the use elsewhere that counts: the current one or, if larger, that of all jobs with their whole claims.</summary>
    public long ElsewhereBytes(long othersBytes) => BaseBytes < 0 ? othersBytes : Math.Max(othersBytes, ExpectedBytes);

    /// <summary>Gets the part of the claims elsewhere that was not used at the last reading: it is kept for the jobs that run.</summary>
    public long UnusedElsewhereBytes => BaseBytes < 0 ? 0 : Math.Max(0, ByteCount.Add(BaseBytes, _elsewhereClaims) - _othersBytes);

    private long ExpectedBytes =>
        ByteCount.Add(ByteCount.Add(BaseBytes, Math.Max(_garbageBytes, _earlierGarbageBytes)), _elsewhereClaims);

    /// <summary>Returns what the running jobs of a budget have of its allocator.</summary>
    public long UsedBytesOf(MemoryBudget budget)
    {
        Debug.Assert(Lock.IsHeld);
        long used = 0;
        foreach (RunningJob job in _jobs)
        {
            used += job.Budget == budget ? job.Account!.CurrentUsedBytes : 0;
        }

        return used;
    }

    /// <summary>Returns in how many milliseconds the container is to be read again; 0 if nothing is to be learned from it.</summary>
    public int ReadingPeriod(long now)
    {
        Debug.Assert(Lock.IsHeld);
        int period = 0;
        foreach (RunningJob job in _jobs)
        {
            if (job.Learned is not null && !job.IsLong(now))
            {
                period = job.IsSolo ? SoloReadingMilliseconds : ReadingMilliseconds;
            }
        }

        return period;
    }

    /// <summary>Notes a reading.</summary>
    /// <param name="othersBytes">What the container uses beside the memory of the library.</param>
    /// <param name="garbageBytes">The part of it that goes with the next collection. It belongs to no job.</param>
    /// <param name="isSettled">Whether malloc was just trimmed, so that memory that jobs have freed is not in it.</param>
    /// <param name="now">The time.</param>
    public void Observe(long othersBytes, long garbageBytes, bool isSettled, long now)
    {
        Debug.Assert(Lock.IsHeld);
        if (now - _garbageSince >= GarbageMilliseconds)
        {
            bool isOld = now - _garbageSince >= 2 * GarbageMilliseconds;
            (_earlierGarbageBytes, _garbageBytes, _garbageSince) = (isOld ? 0 : _garbageBytes, 0, now);
        }

        _garbageBytes = Math.Max(_garbageBytes, garbageBytes);
        _othersBytes = Math.Max(0, othersBytes - garbageBytes);
        int unknown = 0;
        long known = 0;
        foreach (RunningJob job in _jobs)
        {
            unknown += job is { Learned: not null, IsUnknown: true } ? 1 : 0;
            job.Weight = WeightOf(job);
            known += job.Weight;
        }

        isSettled |= now - _idleSince >= SettledMilliseconds;
        if ((isSettled || BaseBytes < 0 || _othersBytes < BaseBytes) && !IsAnyYoung(now))
        {
            BaseBytes = _othersBytes;
            _baseReadMilliseconds = isSettled ? now : _baseReadMilliseconds;
            _baseDueSince = null;
        }

        long elsewhere = BaseBytes < 0 ? 0 : Math.Max(0, _othersBytes - BaseBytes);
        foreach (RunningJob job in _jobs)
        {
            long share = _jobs.Count == 1 ? elsewhere
                : job is { Learned: not null, IsUnknown: true } ? Math.Max(0, elsewhere - known) / unknown
                : unknown > 0 ? Math.Min(elsewhere, job.Weight)
                : known == 0 ? 0 : (long)((double)elsewhere * job.Weight / known);
            job.PeakElsewhereBytes = Math.Max(job.PeakElsewhereBytes, share);
        }
    }

    /// <summary>Returns what holds a job back beside those that run, whatever room there is.</summary>
    /// <param name="job">The job.</param>
    /// <param name="isUnknown">Whether nothing is known of its need.</param>
    /// <param name="isObserved">Whether its use elsewhere can be seen.</param>
    /// <param name="now">The time.</param>
    public JobHold FindHold(RunningJob job, bool isUnknown, bool isObserved, long now)
    {
        Debug.Assert(Lock.IsHeld);
        if (job.Learned is not { } learned)
        {
            return JobHold.None;
        }

        if (learned.Running >= Math.Max(2, learned.Jobs / EndedForEach))
        {
            return JobHold.ByItsName;
        }

        if (isObserved && !job.ForgoesBase && now - _baseDueSince < ExclusiveMilliseconds)
        {
            return JobHold.Briefly;
        }

        JobHold hold = JobHold.None;
        bool needsSolo = isObserved && NeedsSolo(learned);
        foreach (RunningJob other in _jobs)
        {
            if (other.Learned is null)
            {
                continue;
            }

            long ran = now - other.BeganMilliseconds;
            bool areUnknown = isUnknown && other.IsUnknown;
            bool isAlone = isObserved && other.IsSolo && NeedsSolo(other.Learned);
            if (areUnknown && other.Learned.Job == learned.Job && ran < FirstOfNameMilliseconds)
            {
                return JobHold.ByItsName;
            }

            hold = ran < ExclusiveMilliseconds && (areUnknown || needsSolo || isAlone) ? JobHold.Briefly : hold;
        }

        return hold;
    }

    /// <summary>
    /// Returns what has to stay free beside a learned job and those that run: from the third on, the largest claim once more, so that one
    /// of them may need more than any before. Those that are small beside it do not count: two large ones would never run together.
    /// </summary>
    public JobClaim SurpriseBeside(JobClaim claim, MemoryBudget budget)
    {
        Debug.Assert(Lock.IsHeld);
        int running = 0;
        long total = claim.TotalBytes;
        long allocated = claim.AllocatedBytes;
        foreach (RunningJob other in _jobs)
        {
            if (other.Learned is not null)
            {
                running += other.Claim.TotalBytes >= claim.TotalBytes / SmallPart ? 1 : 0;
                total = Math.Max(total, other.Claim.TotalBytes);
                allocated = other.Budget == budget ? Math.Max(allocated, other.Claim.AllocatedBytes) : allocated;
            }
        }

        return running < 2 ? default : new JobClaim(allocated, total - allocated);
    }

    public void Begin(RunningJob job, MemoryBudget budget, JobClaim claim, bool isUnknown, long now)
    {
        Debug.Assert(Lock.IsHeld && job.Node.List is null);
        job.Budget = budget;
        job.Claim = claim;
        job.IsUnknown = isUnknown;
        job.BeganMilliseconds = now;
        job.IsSolo = _jobs.Count == 0;
        foreach (RunningJob other in _jobs)
        {
            other.IsSolo = false;
        }

        _jobs.AddLast(job.Node);
        _elsewhereClaims += claim.ElsewhereBytes;
        if (job.Learned is { } learned)
        {
            learned.Running++;
        }
    }

    /// <summary>Ends a job, and learns from it.</summary>
    public void End(RunningJob job, long allocatedBytes, bool isRefused, bool isObserved, long now)
    {
        Debug.Assert(Lock.IsHeld);
        if (job.Node.List is null)
        {
            return;
        }

        _jobs.Remove(job.Node);
        _elsewhereClaims -= job.Claim.ElsewhereBytes;
        _idleSince = now;
        if (job.Learned is { } learned)
        {
            learned.Running--;
            IsGarbageInBase = NeedsSolo(learned);
            bool isDue = IsGarbageInBase || now - _baseReadMilliseconds >= BaseMilliseconds;
            _baseDueSince = isDue && isObserved && _jobs.Count == 0 ? now : _baseDueSince;
            bool isTaught = isObserved && (job.IsSolo || job.IsUnknown || job.PeakElsewhereBytes > job.Claim.ElsewhereBytes);
            learned.Seen += isObserved ? 1 : 0;
            learned.End(job.Size, allocatedBytes, isTaught ? job.PeakElsewhereBytes : null, job.IsSolo && isObserved, isRefused);
        }
    }

    /// <summary>
    /// Returns whether a job runs, in a budget or in any, that is not long: its end is near, and the base must not be read.
    /// </summary>
    public bool IsAnyYoung(long now, MemoryBudget? budget = null)
    {
        Debug.Assert(Lock.IsHeld);
        bool isAnyYoung = false;
        foreach (RunningJob job in _jobs)
        {
            isAnyYoung |= !job.IsLong(now) && (budget is null || job.Budget == budget);
        }

        return isAnyYoung;
    }

    private static bool NeedsSolo(LearnedSize? learned) =>
        learned is not null && learned.SoloRuns < SoloRuns && learned.Seen < LearnedSize.FirstJobs;

    // By what is known now, because claims of jobs that began at different times cannot be compared.
    private static long WeightOf(RunningJob job) =>
        job.Learned is null || job.IsUnknown ? 0 : Math.Max(job.FindClaim()?.ElsewhereBytes ?? 0, LeastShare);
}
