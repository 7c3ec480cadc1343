using System.Diagnostics.CodeAnalysis;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Admits requests as far as the budget has room, and decides how long others wait. Without a budget the account is null. Bytes are the
/// most that a request can need.
/// </summary>
internal sealed class AdmissionControl(AllocatorSettings settings, AllocatorCounters counters, PoolTrimmer trimmer)
{
    private static readonly TimeSpan s_patienceOfLearned = TimeSpan.FromSeconds(30);

    private int _isUnlimitedNoted;

    /// <summary>Takes what a request needs. Blocks for up to the budget's timeout.</summary>
    public BudgetPermit Acquire(BudgetAccount? account, long bytes) =>
        TryAcquireAtOnce(account, bytes, out BudgetPermit permit) ? permit : AcquireSlow(account, bytes);

    /// <summary>Takes what a request needs if there is room now. False if nothing was taken. Never waits.</summary>
    public bool TryAcquire(BudgetAccount? account, long bytes, out BudgetPermit permit, ReservationAccount? begins = null) =>
        TryAcquireAtOnce(account, bytes, out permit, begins) || TryAcquireSlow(account, bytes, begins, ref permit);

    /// <summary>As <see cref="Acquire"/>, but waits asynchronously, with a timeout of its own; below zero for ever.</summary>
    public Admission AcquireAsync(
        BudgetAccount? account, long bytes, TimeSpan timeout, CancellationToken cancellationToken, ReservationAccount? begins = null)
    {
        if (TryAcquireAtOnce(account, bytes, out BudgetPermit permit, begins))
        {
            return new Admission(permit, null);
        }

        EnsureItFits(account, bytes);
        PendingAdmission pending = new(this, settings.Clock, account, bytes, LimitWait(timeout), cancellationToken, begins);
        pending.Post();
        return new Admission(default, pending);
    }

    /// <summary>
    /// Prepares the process for a job with a name: what it uses elsewhere is read by the background thread, and what it frees there must go
    /// back to the system. Writes an event for the first reservation that nothing limits.
    /// </summary>
    public void Prepare(BudgetAccount? account, RunningJob job)
    {
        if (job.Learned is not null && account?.Budget is { WatchesContainer: true })
        {
            BackgroundThread.Shared.Ensure();
            BackgroundThread.Long.Ensure();
            if (NativeMapThreshold.Decide(settings.SetsNativeMapThresholdForJobs))
            {
                AllocatorEventSource.Log.NativeMapThresholdSet(NativeMapThreshold.Bytes, counters.AllocatorName);
            }
        }

        if (account?.Budget is null && AllocatorEventSource.Log.WritesBudgets && Interlocked.Exchange(ref _isUnlimitedNoted, 1) == 0)
        {
            AllocatorEventSource.Log.ReservationUnlimited(counters.AllocatorName);
        }
    }

    /// <summary>Posts a request. If it is not granted, starts a search for memory.</summary>
    public void Post(BudgetRequest request, bool mayWait)
    {
        MemoryBudget budget = request.Account.Budget!;
        BackgroundThread.Long.Ensure();
        budget.Post(request, mayWait);
        if (request.IsGranted)
        {
            return;
        }

        // Part of the outstanding memory may have been abandoned; and codecs may have left free memory in malloc.
        settings.Scheduler.Collections.Request(settings.SearchPeriod, beforeRefusal: true);
        trimmer.HeapTrimmer?.Request(counters);
        budget.FreeForJobs();
        if (mayWait)
        {
            // While any request waits, ticks look for more such memory, and serve waiters.
            settings.Scheduler.Wake(trimmer);
            budget.Watch();
        }

        counters.Count(UsageFigure.BudgetWaits);
    }

    /// <summary>Takes what a request needs if it fits and no other request waits.</summary>
    public static bool TryAcquireAtOnce(
        [NotNullWhen(false)] BudgetAccount? account, long bytes, out BudgetPermit permit, ReservationAccount? begins = null)
    {
        bool isCounted = account is not null && bytes != 0;
        bool isTaken = isCounted && account!.TryTakeNow(bytes, begins);
        permit = isTaken && begins is null ? new BudgetPermit(account, bytes) : default;
        return isTaken || (!isCounted && begins?.TryBegin(overtakes: true) != false);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BudgetPermit AcquireSlow(BudgetAccount account, long bytes)
    {
        TimeSpan timeout = LimitWait(PatienceOf(account));
        EnsureItFits(account, bytes);
        BudgetRequest request = new(account, bytes, blocks: true);
        PostAndWait(request, timeout);
        return request.IsGranted ? new BudgetPermit(account, bytes) : throw Refusal(request, timeout, token: null);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryAcquireSlow(BudgetAccount account, long bytes, ReservationAccount? begins, ref BudgetPermit permit)
    {
        MemoryBudget budget = GetOpenBudget(account, bytes);
        if (account.LeastChargeWith(bytes) > budget.LimitInBytes)
        {
            return false;
        }

        BudgetRequest request = new(account, bytes, begins: begins);
        PostAndWait(request, TimeSpan.Zero);
        Throw.IfDisposed(request.Outcome == BudgetOutcome.Closed, NameOf(account));
        permit = request.IsGranted ? request.Permit : default;
        return request.IsGranted;
    }

    private void PostAndWait(BudgetRequest request, TimeSpan timeout)
    {
        Debug.Assert(!request.Account.Lock.IsHeld, "A thread that waits holds no lock.");
        long begun = ReportBegin(request);
        try
        {
            Post(request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                settings.Clock.Wait(request.Handle!, timeout);
                request.TryCancel();
            }

            ReportEnd(request, begun, request.IsGranted);
        }
        catch
        {
            // An interrupt, or no memory on the managed heap.
            request.Withdraw();
            ReportEnd(request, begun, isGranted: false);
            throw;
        }
    }

    // A hook that runs before memory goes back does not wait for memory: others may wait for the memory that it delays.
    private static TimeSpan LimitWait(TimeSpan timeout) => BlockHooks.IsReleasing ? TimeSpan.Zero : timeout;

    // A learned job cannot know its needs, and holds memory that others wait for. A refusal at once would fail it for nothing: of 32
    // photographs, 16 at once under a budget of 170 MB, 0.8 failed then, and 0.4 with patience (LoadResizeSave survive, November 2026).
    private TimeSpan PatienceOf(BudgetAccount account)
    {
        TimeSpan timeout = settings.Options.BudgetTimeout;
        bool isLearned = account.OutermostReservation?.IsLearned == true;
        return isLearned && timeout >= TimeSpan.Zero && timeout < s_patienceOfLearned ? s_patienceOfLearned : timeout;
    }

    // Throws if the request can never be granted.
    private static void EnsureItFits(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account, bytes);
        long needed = account.LeastChargeWith(bytes);
        if (needed > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes, needed - bytes);
        }

        if (budget.WatchesContainer && needed > Math.Min(LimitOf(budget), ByteCount.LargestEstimate) - budget.MinimumFreeBytes)
        {
            throw ForMinimumFree(budget, bytes, fitsEver: false, timeout: null);
        }
    }

    private static MemoryBudget GetOpenBudget(BudgetAccount account, long bytes)
    {
        MemoryBudget? budget = account.Budget;
        if (account.IsClosed)
        {
            Throw.Disposed(NameOf(account));
        }

        if (budget is null)
        {
            // Without a budget, only a sum that overflows is refused.
            Throw.LimitExceeded(bytes, ByteCount.LargestEstimate);
        }

        return budget;
    }

    /// <summary>Makes the exception for a request that was not granted; without a token for one that blocked a thread.</summary>
    public Exception Refusal(BudgetRequest request, TimeSpan timeout, CancellationToken? token)
    {
        if (token?.IsCancellationRequested == true)
        {
            return new OperationCanceledException(token.Value);
        }

        MemoryBudget budget = request.Account.Budget!;
        (long bytes, long limit, long used) = (request.Bytes, budget.LimitInBytes, budget.AdmittedBytes);
        bool isLearned = request.Reservation?.IsLearned == true;

        // A job by name that claims more than there is runs alone, with what there is. For one that runs nothing has to stay free.
        bool fitsEver = request.LearnedJob is not null || (budget.FitsEver(request.NeededBytes)
            && (isLearned || !budget.KeepsMinimumFree || request.NeededBytes <= LimitOf(budget) - budget.MinimumFreeBytes));
        bool isCapped = request.LearnedJob?.Hold == JobHold.ByItsName;
        return request.Outcome switch
        {
            BudgetOutcome.Closed => Throw.DisposedException(NameOf(request.Account)),
            BudgetOutcome.Stuck when limit == long.MaxValue && budget.Headroom!.Read() is Headroom left =>
                MemoryLimitExceededException.ForStuckGrowth(
                    bytes, left.LimitBytes, isBudget: false, left.LimitBytes - left.FreeBytes, fitsEver, request.AtFailure, isLearned),
            BudgetOutcome.Stuck =>
                MemoryLimitExceededException.ForStuckGrowth(bytes, limit, isBudget: true, used, fitsEver, request.AtFailure, isLearned),
            _ when request.Outcome == BudgetOutcome.NoRoom || limit == long.MaxValue => ForMinimumFree(
                budget, bytes, fitsEver, token is null ? null : timeout, isCapped, isNoRoom: request.Outcome == BudgetOutcome.NoRoom),
            _ => MemoryLimitExceededException.ForTimeout(
                bytes, limit, used, fitsEver, isCapped, timeout,
                isBudgetTimeout: token is null && timeout == settings.Options.BudgetTimeout),
        };
    }

    private static MemoryLimitExceededException ForMinimumFree(
        MemoryBudget budget, long bytes, bool fitsEver, TimeSpan? timeout, bool isCapped = false, bool isNoRoom = false)
    {
        Headroom left = budget.Headroom!.Read();
        return MemoryLimitExceededException.ForMinimumFree(
            bytes, fitsEver, LimitOf(budget), budget.MinimumFreeBytes, left.FreeBytes, isCapped, isNoRoom, timeout);
    }

    // If no minimum must stay free, admission still leaves room for the runtime and for page tables.
    private static long LimitOf(MemoryBudget budget)
    {
        Headroom left = budget.Headroom!.Read();
        return budget.KeepsMinimumFree ? left.LimitBytes : left.UsableBytes;
    }

    /// <summary>Returns the name of the type whose object was disposed, for the message of a closed account.</summary>
    public static string NameOf(BudgetAccount account) =>
        account.OutermostReservation is not null && account.Budget?.IsClosed != true ? nameof(MemoryReservation) : nameof(MemoryAllocator);

    // Before the request is posted: a listener that allocates must not wait behind a request that only its own thread can use.
    public long ReportBegin(BudgetRequest request)
    {
        MemoryBudget budget = request.Account.Budget!;
        if (AllocatorEventSource.Log.WritesBudgets)
        {
            long limit = budget.LimitInBytes == long.MaxValue ? LimitOf(budget) - budget.MinimumFreeBytes : budget.LimitInBytes;
            AllocatorEventSource.Log.BudgetWaitBegan(request.Bytes, budget.AdmittedBytes, limit, counters.AllocatorName);
        }

        return settings.Clock.NowMilliseconds;
    }

    public void ReportEnd(BudgetRequest request, long begun, bool isGranted) => AllocatorEventSource.Log.BudgetWaitEnded(
        request.Bytes, settings.Clock.NowMilliseconds - begun, isGranted ? "Granted" : "GivenUp", counters.AllocatorName);
}

/// <summary>The admission of a request, granted at once or after a wait. It is awaited once.</summary>
internal readonly struct Admission(BudgetPermit permit, PendingAdmission? pending) : ICriticalNotifyCompletion
{
    public bool IsCompleted => pending?.IsWaiting != true;

    public Admission GetAwaiter() => this;

    /// <summary>Returns the permit, or throws and has taken nothing.</summary>
    public BudgetPermit GetResult() => pending is null ? permit : pending.Take();

    public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

    public void UnsafeOnCompleted(Action continuation) =>
        pending!.Task.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(continuation);
}

/// <summary>
/// One asynchronous wait for the budget. If nobody takes what it was granted, because the awaiting code had no managed memory to go on, a
/// collection brings it back.
/// </summary>
internal sealed class PendingAdmission(
    AdmissionControl admission,
    Clock clock,
    BudgetAccount account,
    long bytes,
    TimeSpan timeout,
    CancellationToken token,
    ReservationAccount? begins)
    : BudgetRequest(account, bytes, begins: begins)
{
    private CancellationTokenRegistration _registration;
    private long _begun;

    ~PendingAdmission() => ReturnGrant(byFinalizer: true);

    /// <summary>Posts the request. If this throws, nothing was taken.</summary>
    public void Post()
    {
        // Without the thread nothing would end the wait.
        BackgroundThread.Shared.Start();
        _begun = admission.ReportBegin(this);
        try
        {
            _registration = token.UnsafeRegister(Cancel, this);
            long due = long.MaxValue;
            if (timeout > TimeSpan.Zero)
            {
                due = clock.NowMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds);
                clock.RunBy(this, due);
            }

            admission.Post(this, mayWait: timeout != TimeSpan.Zero);

            // If the time was over before the request was posted, there was nothing to cancel then.
            if (token.IsCancellationRequested || clock.NowMilliseconds >= due)
            {
                TryCancel();
            }
        }
        catch
        {
            GC.SuppressFinalize(this);
            Withdraw();
            End();
            throw;
        }
    }

    /// <summary>Returns the permit, or throws and has taken nothing.</summary>
    public BudgetPermit Take()
    {
        End();
        GC.SuppressFinalize(this);
        return IsGranted ? Permit : throw admission.Refusal(this, timeout, token);
    }

    private static void Cancel(object? request) => ((BudgetRequest)request!).TryCancel();

    private void End()
    {
        _registration.Dispose();
        clock.Cancel(this);
        admission.ReportEnd(this, _begun, IsGranted);
    }
}
