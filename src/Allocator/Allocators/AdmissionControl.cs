using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Admits requests as far as the budget has room, and decides how long the others wait. Without a budget the account is null. Bytes are
/// the most that a request can need.
/// </summary>
internal sealed class AdmissionControl
{
    private readonly AllocatorSettings _settings;
    private readonly AllocatorCounters _counters;
    private readonly PoolTrimmer _trimmer;

    public AdmissionControl(AllocatorSettings settings, AllocatorCounters counters, PoolTrimmer trimmer)
    {
        _settings = settings;
        _counters = counters;
        _trimmer = trimmer;
    }

    /// <summary>Takes what a request needs; blocks for up to the budget's timeout.</summary>
    public BudgetPermit Acquire(BudgetAccount? account, long bytes)
    {
        if (account is null || bytes == 0)
        {
            return default;
        }

        return account.TryTakeNow(bytes) ? new BudgetPermit(account, bytes) : AcquireSlow(account, bytes);
    }

    /// <summary>Takes what a request needs where there is room now; false where nothing was taken. Never waits.</summary>
    public bool TryAcquire(BudgetAccount? account, long bytes, out BudgetPermit permit)
    {
        permit = default;
        if (account is null || bytes == 0)
        {
            return true;
        }

        if (!account.TryTakeNow(bytes) && !TryAcquireSlow(account, bytes))
        {
            return false;
        }

        permit = new BudgetPermit(account, bytes);
        return true;
    }

    /// <summary>As <see cref="Acquire"/>, but waits asynchronously, for a time of its own; below zero for any time.</summary>
    public ValueTask<BudgetPermit> AcquireAsync(BudgetAccount? account, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (account is null || bytes == 0)
        {
            return default;
        }

        return account.TryTakeNow(bytes)
            ? new ValueTask<BudgetPermit>(new BudgetPermit(account, bytes))
            : WaitAsync(account, bytes, timeout, cancellationToken);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BudgetPermit AcquireSlow(BudgetAccount account, long bytes)
    {
        TimeSpan timeout = _settings.Options.BudgetTimeout;
        MemoryBudget budget = GetBudgetThatFits(account, bytes);
        BudgetRequest request = new(account, bytes, blocks: true);
        PostAndWait(budget, request, timeout);
        return request.IsGranted ? new BudgetPermit(account, bytes) : throw Refusal(budget, request, timeout, isBudgetTimeout: true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryAcquireSlow(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account);
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

        return request.IsGranted;
    }

    private void PostAndWait(MemoryBudget budget, BudgetRequest request, TimeSpan timeout)
    {
        long begun = ReportBegin(budget, request);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                Wait(budget, request, timeout);
                budget.TryWithdraw(request);
            }

            ReportEnd(request, begun, request.IsGranted);
        }
        catch
        {
            // An interrupt, or no memory on the managed heap.
            GiveUp(request, begun);
            throw;
        }
    }

    private async ValueTask<BudgetPermit> WaitAsync(
        BudgetAccount account, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        MemoryBudget budget = GetBudgetThatFits(account, bytes);
        WaiterThread? thread = timeout > TimeSpan.Zero ? _settings.Times : null;
        BudgetRequest request = new(account, bytes, thread: thread);
        thread?.Begin();
        WaiterThread? looks = null;
        long begun = ReportBegin(budget, request);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                looks = TryWatch(budget);
                using CancellationTokenRegistration registration =
                    cancellationToken.Register(static state => Withdraw((BudgetRequest)state!), request);
                thread?.Add(request, timeout);
                await request.Settled.ConfigureAwait(false);
            }

            ReportEnd(request, begun, request.IsGranted);
        }
        catch
        {
            GiveUp(request, begun);
            throw;
        }
        finally
        {
            thread?.End(request);
            looks?.End();
        }

        if (!request.IsGranted)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw Refusal(budget, request, timeout, isBudgetTimeout: false);
        }

        return new BudgetPermit(account, bytes);
    }

    // Returns what has to be ended after the wait.
    private WaiterThread? TryWatch(MemoryBudget budget)
    {
        WaiterThread? begun = null;
        if (budget.IsLimitedByContainer)
        {
            try
            {
                _settings.Looks.Begin();
                begun = _settings.Looks;
                begun.Watch(budget);
            }
            catch (OutOfMemoryException)
            {
                // A return of memory, or a tick, serves the request.
            }
        }

        return begun;
    }

    // By the waiting thread's own watch: where many wait, no thread of the pool may be left for a timer.
    private void Wait(MemoryBudget budget, BudgetRequest request, TimeSpan timeout)
    {
        Clock clock = _settings.Clock;
        if (!budget.IsLimitedByContainer)
        {
            clock.Wait(request.Handle, timeout);
            return;
        }

        long begun = clock.NowMilliseconds;
        while (request.IsWaiting && (timeout < TimeSpan.Zero || clock.NowMilliseconds - begun < timeout.TotalMilliseconds))
        {
            // The collector, and other processes of the container, notify no waiter.
            clock.Wait(request.Handle, TimeSpan.FromMilliseconds(MemoryBudget.LookAgainMilliseconds));
            budget.LookAgain(clock.NowMilliseconds);
        }
    }

    private void Post(MemoryBudget budget, BudgetRequest request, bool mayWait)
    {
        budget.Post(request, mayWait);
        if (request.IsGranted)
        {
            return;
        }

        // Part of the outstanding memory may have been abandoned; and codecs may have left some behind.
        _settings.RequestCollection(beforeRefusal: true);
        _settings.HeapTrimmer?.Request(_counters);
        if (mayWait)
        {
            // Ticks look for more of it, and serve waiters, as long as any wait.
            _settings.Scheduler.Wake(_trimmer);
        }

        _counters.CountBudgetWait();
    }

    private static bool Withdraw(BudgetRequest request) => request.Account.Budget!.TryWithdraw(request);

    // No caller waits for it any more: what it would get, or has got, is for others.
    private void GiveUp(BudgetRequest request, long begun)
    {
        if (!Withdraw(request) && request.IsGranted)
        {
            request.Account.Return(request.Bytes);
        }

        ReportEnd(request, begun, isGranted: false);
    }

    // Throws where no request can be granted.
    private static MemoryBudget GetBudgetThatFits(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account);
        long needed = account.LeastChargeWith(bytes);
        if (needed > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes, needed - bytes);
        }

        if (budget.IsLimitedByContainer && needed > budget.Headroom!.Read().LimitBytes - budget.MinimumFreeBytes)
        {
            throw ForMinimumFree(budget, bytes, needed);
        }

        return budget;
    }

    private static MemoryBudget GetOpenBudget(BudgetAccount account)
    {
        MemoryBudget? budget = account.Budget;
        if (account.IsClosed || budget is null)
        {
            Throw.Disposed(NameOf(account));
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
        return _settings.Clock.NowMilliseconds;
    }

    private void ReportEnd(BudgetRequest request, long begun, bool isGranted) => AllocatorEventSource.Log.BudgetWaitEnded(
        request.Bytes, _settings.Clock.NowMilliseconds - begun, isGranted ? "Granted" : "GivenUp", _counters.AllocatorName);
}
