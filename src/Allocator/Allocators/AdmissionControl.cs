using System.Diagnostics.CodeAnalysis;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Admits requests as far as the budget has room, and decides how long the others wait. Without a budget the account is null. Bytes are
/// the most that a request can need.
/// </summary>
internal sealed class AdmissionControl(AllocatorSettings settings, AllocatorCounters counters, PoolTrimmer trimmer)
{
    private readonly AllocatorSettings _settings = settings;
    private readonly AllocatorCounters _counters = counters;
    private readonly PoolTrimmer _trimmer = trimmer;
    private readonly Clock _clock = settings.Clock;

    /// <summary>Takes what a request needs; blocks for up to the budget's timeout.</summary>
    public BudgetPermit Acquire(BudgetAccount? account, long bytes) =>
        TryAcquireAtOnce(account, bytes, out BudgetPermit permit) ? permit : AcquireSlow(account, bytes);

    /// <summary>Takes what a request needs where there is room now; false where nothing was taken. Never waits.</summary>
    public bool TryAcquire(BudgetAccount? account, long bytes, out BudgetPermit permit) =>
        TryAcquireAtOnce(account, bytes, out permit) || TryAcquireSlow(account, bytes, ref permit);

    /// <summary>As <see cref="Acquire"/>, but waits asynchronously, for a time of its own; below zero for any time.</summary>
    public ValueTask<BudgetPermit> AcquireAsync(
        BudgetAccount? account, long bytes, TimeSpan timeout, CancellationToken cancellationToken) =>
        TryAcquireAtOnce(account, bytes, out BudgetPermit permit)
            ? new ValueTask<BudgetPermit>(permit)
            : WaitAsync(account, bytes, timeout, cancellationToken);

    private static bool TryAcquireAtOnce([NotNullWhen(false)] BudgetAccount? account, long bytes, out BudgetPermit permit)
    {
        bool isCounted = account is not null && bytes != 0;
        bool isTaken = isCounted && account!.TryTakeNow(bytes);
        permit = isTaken ? new BudgetPermit(account, bytes) : default;
        return isTaken || !isCounted;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BudgetPermit AcquireSlow(BudgetAccount account, long bytes)
    {
        TimeSpan timeout = LimitWait(_settings.Options.BudgetTimeout);
        MemoryBudget budget = GetBudgetThatFits(account, bytes);
        BudgetRequest request = new(account, bytes, blocks: true);
        PostAndWait(budget, request, timeout);
        return request.IsGranted ? new BudgetPermit(account, bytes) : throw Refusal(budget, request, timeout, isBudgetTimeout: true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryAcquireSlow(BudgetAccount account, long bytes, ref BudgetPermit permit)
    {
        MemoryBudget budget = GetOpenBudget(account, bytes);
        if (account.LeastChargeWith(bytes) > budget.LimitInBytes)
        {
            return false;
        }

        BudgetRequest request = new(account, bytes);
        PostAndWait(budget, request, TimeSpan.Zero);
        if (request.Outcome == BudgetOutcome.Closed)
        {
            Throw.Disposed(NameOf(account));
        }

        permit = request.IsGranted ? new BudgetPermit(account, bytes) : default;
        return request.IsGranted;
    }

    private void PostAndWait(MemoryBudget budget, BudgetRequest request, TimeSpan timeout)
    {
        Debug.Assert(!budget.Lock.IsHeld, "A thread that waits holds no lock.");
        long begun = ReportBegin(budget, request);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                budget.Watch();
                _clock.Wait(request.Handle, timeout);
                budget.TryCancel(request);
            }

            ReportEnd(request, begun, request.IsGranted);
        }
        catch
        {
            // An interrupt, or no memory on the managed heap.
            Cancel(request, begun);
            throw;
        }
    }

    private async ValueTask<BudgetPermit> WaitAsync(
        BudgetAccount account, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        MemoryBudget budget = GetBudgetThatFits(account, bytes);
        timeout = LimitWait(timeout);
        bool isTimed = timeout > TimeSpan.Zero;
        BudgetRequest request = new(account, bytes, isTimed: isTimed);

        // Before the request is posted: without the thread nothing would end the wait.
        BackgroundThread.Shared.Start();
        long begun = ReportBegin(budget, request);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                budget.Watch();
                using CancellationTokenRegistration registration =
                    cancellationToken.Register(static state => TryCancel((BudgetRequest)state!), request);
                if (isTimed)
                {
                    _clock.RunBy(request, _clock.NowMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds));
                }

                await request.Settled.ConfigureAwait(false);
            }

            ReportEnd(request, begun, request.IsGranted);
        }
        catch
        {
            Cancel(request, begun);
            throw;
        }
        finally
        {
            _clock.Cancel(request);
        }

        if (!request.IsGranted)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw Refusal(budget, request, timeout, isBudgetTimeout: false);
        }

        return new BudgetPermit(account, bytes);
    }

    private void Post(MemoryBudget budget, BudgetRequest request, bool mayWait)
    {
        budget.Post(request, mayWait);
        if (request.IsGranted)
        {
            return;
        }

        // Part of the outstanding memory may have been abandoned; and codecs may have left some behind.
        _settings.Scheduler.Collections.Request(_settings.SearchPeriod, beforeRefusal: true);
        _trimmer.HeapTrimmer?.Request(_counters);
        if (mayWait)
        {
            // Ticks look for more of it, and serve waiters, as long as any wait.
            _settings.Scheduler.Wake(_trimmer);
        }

        _counters.CountBudgetWait();
    }

    // A hook on memory's way back does not wait for memory: others may wait for what it holds up.
    private static TimeSpan LimitWait(TimeSpan timeout) => BlockHooks.IsReleasing ? TimeSpan.Zero : timeout;

    private static bool TryCancel(BudgetRequest request) => request.Account.Budget!.TryCancel(request);

    // The caller has gone: the request is withdrawn, or what it was granted is returned.
    private void Cancel(BudgetRequest request, long begun)
    {
        if (!TryCancel(request) && request.IsGranted)
        {
            request.Account.Return(request.Bytes);
        }

        ReportEnd(request, begun, isGranted: false);
    }

    // Throws where no request can be granted.
    private static MemoryBudget GetBudgetThatFits(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account, bytes);
        long needed = account.LeastChargeWith(bytes);
        if (needed > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes, needed - bytes);
        }

        bool isLimited = budget.KeepsMinimumFree;
        if (isLimited && needed > Math.Min(budget.Headroom!.Read().LimitBytes, ByteCount.LargestEstimate) - budget.MinimumFreeBytes)
        {
            throw ForMinimumFree(budget, bytes, needed);
        }

        return budget;
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
            // Without a budget only a sum that no number holds is refused.
            Throw.LimitExceeded(bytes, ByteCount.LargestEstimate);
        }

        return budget;
    }

    private static Exception Refusal(MemoryBudget budget, BudgetRequest request, TimeSpan timeout, bool isBudgetTimeout)
    {
        (long bytes, long limit, long used, long needed) = (request.Bytes, budget.LimitInBytes, budget.AdmittedBytes, request.NeededBytes);
        return request.Outcome switch
        {
            BudgetOutcome.Closed => Throw.DisposedException(NameOf(request.Account)),
            BudgetOutcome.Stuck => MemoryLimitExceededException.ForStuckGrowth(
                bytes, limit, used, needed, request.Reservation!.ReservedBytes, request.AtFailure.UsedBytes, request.AtFailure.PeakBytes),
            BudgetOutcome.NoRoom => ForMinimumFree(budget, bytes, needed),
            _ when limit == long.MaxValue => ForMinimumFree(budget, bytes, needed),
            _ => MemoryLimitExceededException.ForTimeout(bytes, limit, used, needed, timeout, isBudgetTimeout),
        };
    }

    private static MemoryLimitExceededException ForMinimumFree(MemoryBudget budget, long bytes, long neededBytes)
    {
        Headroom left = budget.Headroom!.Read();
        return MemoryLimitExceededException.ForMinimumFree(bytes, neededBytes, left.LimitBytes, budget.MinimumFreeBytes, left.FreeBytes);
    }

    private static string NameOf(BudgetAccount account) =>
        account.OutermostReservation is not null && account.Budget?.IsClosed != true ? nameof(MemoryReservation) : nameof(MemoryAllocator);

    // Before the request is posted: a listener that allocates must not wait behind one that its own thread would have to use.
    private long ReportBegin(MemoryBudget budget, BudgetRequest request)
    {
        AllocatorEventSource.Log.BudgetWaitBegan(request.Bytes, budget.AdmittedBytes, budget.LimitInBytes, _counters.AllocatorName);
        return _clock.NowMilliseconds;
    }

    private void ReportEnd(BudgetRequest request, long begun, bool isGranted) => AllocatorEventSource.Log.BudgetWaitEnded(
        request.Bytes, _clock.NowMilliseconds - begun, isGranted ? "Granted" : "GivenUp", _counters.AllocatorName);
}
