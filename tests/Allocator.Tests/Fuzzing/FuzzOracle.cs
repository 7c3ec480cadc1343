using System.Numerics;
using Allocator.Budgeting;

namespace Allocator.Tests.Fuzzing;

/// <summary>What must be true of an allocator, by a list of what is out of it.</summary>
internal sealed class FuzzOracle
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    // The first try, and eight more.
    private const int RefusalsBeforeFailure = 9;

    private readonly TestSetup _setup;
    private readonly FuzzCallbacks _callbacks;
    private readonly long? _budget;
    private readonly bool _quarantines;
    private long _rents;
    private long _abandoned;
    private MemoryAllocatorStatistics _last;
    private Disturbance _disturbance;
    private int _refusalsBefore;
    private long _quarantinedBefore;

    public FuzzOracle(TestSetup setup, FuzzCallbacks callbacks, long? budget, AbandonedMemory abandoned)
    {
        _callbacks = callbacks;
        _quarantines = abandoned == AbandonedMemory.Quarantine;
        _setup = setup;
        _budget = budget;
    }

    public List<LiveBuffer> Buffers { get; } = [];

    public List<MemoryReservation> Reservations { get; } = [];

    /// <summary>Gets whether a request waits of which nothing is decided yet.</summary>
    public bool IsSomethingWaiting => ((MemoryBudget?)_setup.Allocator.Account)?.HasWaiters == true;

    private long RentedBytes => Buffers.Where(static buffer => buffer.IsOut).Sum(static buffer => buffer.CapacityInBytes);

    private long ArrayBytes => Buffers.Where(static buffer => buffer.IsOut && buffer.IsArray).Sum(static buffer => buffer.CapacityInBytes);

    // Idle memory that could not make room; or what came out of quarantine as the wait ended, and is granted on another thread.
    private bool IsSomethingKept =>
        _setup.Source.PurgesAllowed != int.MaxValue
        || _callbacks.ThrownReleases > 0
        || _setup.Statistics.QuarantinedBytes < _quarantinedBefore;

    private long UsedBytes =>
        _budget is null
            ? 0
            : RentedBytes + _setup.Statistics.QuarantinedBytes + Reservations.Sum(static reservation => reservation.RemainingBytes);

    /// <summary>
    /// Gives the most that a request may take: whole blocks, or pages and a little between members, or the next power of two.
    /// </summary>
    public static long MostCapacityOf(long bytes) =>
        bytes <= TestSetup.ArrayThreshold
            ? Math.Max(4096, (long)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(bytes, 16)))
            : (2 * bytes + 2 * TestSetup.BlockSize);

    public static T ResultOf<T>(Task<T> task)
    {
        Assert.True(Task.WhenAny(task, Task.Delay(s_patience)).GetAwaiter().GetResult() == task, "A request waits for ever.");
        return task.GetAwaiter().GetResult();
    }

    public void Add(LiveBuffer buffer, bool measured = false)
    {
        if (measured)
        {
            buffer.CapacityInBytes = _setup.Statistics.RentedBytes - RentedBytes;
            buffer.Fill(expectZeros: false);
        }

        Buffers.Add(buffer);
        CountRent();
    }

    public void CountRent()
    {
        ExpectNoCallbackFailed();
        _rents++;
    }

    /// <summary>Notes what is wrong during the call that follows, and that nothing has gone wrong in it yet.</summary>
    public void BeginCall(Disturbance disturbance)
    {
        _callbacks.BeginCall();
        _disturbance = disturbance;
        _refusalsBefore = _setup.Source.Refusals;
        _quarantinedBefore = _setup.Statistics.QuarantinedBytes;
    }

    /// <summary>After a request that succeeded: nothing was thrown that it should have failed of.</summary>
    public void ExpectNoCallbackFailed() => Assert.Null(_callbacks.Thrown.OfRequest);

    public LiveBuffer? Pick(Random random, Func<LiveBuffer, bool> condition)
    {
        LiveBuffer[] candidates = Buffers.Where(condition).ToArray();
        return candidates.Length == 0 ? null : candidates[random.Next(candidates.Length)];
    }

    /// <summary>Gives back one thing that counts against the budget. False where nothing is left.</summary>
    public bool TryDisposeOfSomething(Random random, Action<string> log)
    {
        if (Pick(random, static buffer => buffer.IsOut) is LiveBuffer buffer)
        {
            log($"    dispose of {buffer.CapacityInBytes} bytes");
            while (buffer.CanUnpin)
            {
                buffer.Unpin();
            }

            buffer.Dispose();
            return true;
        }

        if (Reservations.Count > 0)
        {
            log("    dispose of a reservation");
            Reservations[^1].Dispose();
            Reservations.RemoveAt(Reservations.Count - 1);
            return true;
        }

        if (_setup.Statistics.QuarantinedBytes > 0)
        {
            log("    time passes, for what is in quarantine");
            _setup.Clock.Advance(TimeSpan.FromMinutes(30));
            QueuedWork.Collect();
            return true;
        }

        return false;
    }

    public bool HasRoomFor(long bytes) => _budget is not long limit || UsedBytes + bytes <= limit;

    public bool NeverFits(long bytes) => bytes > _budget;

    /// <summary>
    /// Gives whether a request of that many bytes may fail like this now. Of what a callback has thrown it has to, unless something else
    /// goes wrong on the way out.
    /// </summary>
    public bool MayRefuse(Exception exception, long bytes) =>
        _callbacks.Thrown.OfRequest is Exception thrown && (exception == thrown || _disturbance == Disturbance.None)
            ? exception == thrown
            : MayRefuseItself(exception, bytes);

    /// <summary>After a request that failed: what the user can see is as before.</summary>
    public void ExpectUnchanged(in MemoryAllocatorStatistics before)
    {
        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal(
            (before.RentedBytes, before.OutstandingAllocations, before.Rents, before.PoolHits, before.PoolMisses, before.Abandoned),
            (now.RentedBytes, now.OutstandingAllocations, now.Rents, now.PoolHits, now.PoolMisses, now.Abandoned));
    }

    /// <summary>Compares all figures and all contents.</summary>
    public void Compare()
    {
        foreach (LiveBuffer buffer in Buffers)
        {
            buffer.ExpectContents();
        }

        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal(_rents, now.Rents);
        Assert.Equal(Buffers.Count(static buffer => buffer.IsOut), now.OutstandingAllocations);
        Assert.Equal(RentedBytes, now.RentedBytes);
        Assert.Equal(_abandoned, now.Abandoned);
        Assert.Equal(UsedBytes, now.BudgetUsedBytes);

        Assert.Null(_callbacks.Error);
        Assert.Equal(_setup.Source.LiveCommitments, _callbacks.Count + _callbacks.UnknownCount);
        Assert.InRange(_callbacks.UnknownCount * (long)TestSetup.BlockSize, 0, now.RetainedBytes);
        Assert.True(IsConserved(now), $"{now}: {ArrayBytes} bytes are arrays, and the system has given {_setup.Source.LiveBytes}.");
        Assert.True(_budget is not long limit
            || now.CommittedBytes + ArrayBytes + IdleArrayBytes(now) <= limit, "More is held than the budget allows.");
        Assert.True(now.PeakCommittedBytes >= now.CommittedBytes
            && now.TrimmedBytes >= _last.TrimmedBytes
            && now.PoolHits >= _last.PoolHits
            && now.PoolMisses >= _last.PoolMisses);
        _last = now;

        // Some disposed ones stay, to be used too late.
        LiveBuffer[] ended = Buffers.Where(static buffer => !buffer.IsOut).ToArray();
        foreach (LiveBuffer buffer in ended.SkipLast(4))
        {
            Buffers.Remove(buffer);
        }
    }

    public void ExpectNothingLeft()
    {
        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal((0L, 0L, UsedBytes), (now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes));
        Assert.Equal(now.CommittedBytes, _setup.Source.LiveBytes);
        Assert.Null(_callbacks.Error);
        if (now.QuarantinedBytes == 0)
        {
            // The device may hold on to what it has not let go of at the second call either: its memory goes all the same.
            Assert.Equal((0L, 0, 0), (now.CommittedBytes, _setup.Source.LiveReservations, _setup.Source.LiveAllocations));
            Assert.Equal(_callbacks.HeldCount, _callbacks.Count);
        }
        else
        {
            Assert.Equal(now.QuarantinedBytes + now.RetainedBytes, now.CommittedBytes);
            Assert.InRange(now.RetainedBytes, 0, _callbacks.HeldCount * (long)TestSetup.BlockSize);
        }
    }

    /// <summary>Drops a buffer, and has it found. It is then in quarantine, or back.</summary>
    public void Abandon(LiveBuffer buffer)
    {
        Buffers.Remove(buffer);
        _abandoned++;
        DropOwner(buffer);
        for (int i = 0; i < 2; i++)
        {
            QueuedWork.Collect();
        }

        // What is not for the quarantine goes back on another thread: its memory first, and then its part of the budget.
        Assert.True(SpinWait.SpinUntil(() => _setup.Statistics is { } now
            && IsConserved(now)
            && now.BudgetUsedBytes == UsedBytes
            && (_quarantines || now.QuarantinedBytes == 0), s_patience), "What was abandoned does not come back.");
    }

    private bool MayRefuseItself(Exception exception, long bytes) => exception switch
    {
        OutOfMemoryException => _disturbance == Disturbance.NoTimer || _setup.Source.Refusals - _refusalsBefore >= RefusalsBeforeFailure,
        MemoryLimitExceededException => !HasRoomFor(MostCapacityOf(bytes)) || IsSomethingKept,
        ThreadInterruptedException => _disturbance == Disturbance.Interrupt,
        ArgumentOutOfRangeException => true,
        _ => false,
    };

    // Every byte is outstanding, retained or in quarantine, or the system has it. Of what is retained, idle arrays are not the system's,
    // and bounded.
    private bool IsConserved(in MemoryAllocatorStatistics now) =>
        IdleArrayBytes(now) >= 0 && IdleArrayBytes(now) <= (_budget / 8 ?? 64 << 20) && now.CommittedBytes == _setup.Source.LiveBytes;

    private long IdleArrayBytes(in MemoryAllocatorStatistics now) =>
        now.RentedBytes - ArrayBytes + now.RetainedBytes + now.QuarantinedBytes - now.CommittedBytes;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropOwner(LiveBuffer buffer) => buffer.Abandon();
}
