using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>Lets requests in as far as the budget has room, and decides how long the others wait.</summary>
internal sealed class Admission
{
    private readonly AllocatorSettings _settings;
    private readonly AllocatorCounters _counters;
    private readonly PoolTrimmer _trimmer;

    public Admission(AllocatorSettings settings, AllocatorCounters counters, PoolTrimmer trimmer)
    {
        _settings = settings;
        _counters = counters;
        _trimmer = trimmer;
    }

    /// <summary>Takes what a request needs; blocks for up to the budget's timeout.</summary>
    /// <param name="account">What it is charged to; null for nothing, which costs nothing.</param>
    /// <param name="bytes">The most that it can need.</param>
    /// <exception cref="MemoryLimitExceededException">It never fits, or did not in time.</exception>
    /// <exception cref="ObjectDisposedException">The allocator, or the reservation, was disposed meanwhile.</exception>
    public BudgetPermit Admit(BudgetAccount? account, long bytes)
    {
        if (account is null || bytes == 0)
        {
            return default;
        }

        return account.TryTake(bytes, overtakes: false) ? new BudgetPermit(account, bytes) : AdmitSlow(account, bytes);
    }

    /// <summary>Takes what a request needs where there is room now. Never waits.</summary>
    /// <returns>False, where nothing was taken.</returns>
    /// <exception cref="ObjectDisposedException">The allocator, or the reservation, has been disposed.</exception>
    public bool TryAdmit(BudgetAccount? account, long bytes, out BudgetPermit permit)
    {
        permit = default;
        if (account is null || bytes == 0)
        {
            return true;
        }

        if (!account.TryTake(bytes, overtakes: false) && !TryAdmitSlow(account, bytes))
        {
            return false;
        }

        permit = new BudgetPermit(account, bytes);
        return true;
    }

    /// <summary>Takes what a request needs; waits without a thread, until there is room, the time is over, or the user gives up.</summary>
    /// <param name="account">What it is charged to; null for nothing, which costs nothing.</param>
    /// <param name="bytes">The most that it can need.</param>
    /// <param name="timeout">How long it waits: zero for not at all, below zero for any time.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="MemoryLimitExceededException">It never fits, or did not in time.</exception>
    /// <exception cref="OperationCanceledException">The user gave up. Nothing was taken.</exception>
    /// <exception cref="ObjectDisposedException">The allocator, or the reservation, was disposed meanwhile.</exception>
    public ValueTask<BudgetPermit> AdmitAsync(BudgetAccount? account, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (account is null || bytes == 0)
        {
            return default;
        }

        return account.TryTake(bytes, overtakes: false)
            ? new ValueTask<BudgetPermit>(new BudgetPermit(account, bytes))
            : WaitAsync(account, bytes, timeout, cancellationToken);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BudgetPermit AdmitSlow(BudgetAccount account, long bytes)
    {
        TimeSpan timeout = _settings.Options.BudgetTimeout;
        MemoryBudget budget = GetBudget(account, bytes);
        BudgetRequest request = new(account, bytes, blocks: true);
        long begun = TellBegin(budget, bytes);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                Wait(budget, request, timeout);
                budget.TryWithdraw(request);
            }

            if (!request.IsGranted)
            {
                throw Refusal(budget, request, timeout, isBudgetTimeout: true);
            }

            TellEnd(bytes, begun, isGranted: true);
        }
        catch
        {
            // Its own end, or an interrupt, or no memory on the managed heap.
            Withdraw(budget, request);
            TellEnd(bytes, begun, isGranted: false);
            throw;
        }

        return new BudgetPermit(account, bytes);
    }

    private async ValueTask<BudgetPermit> WaitAsync(
        BudgetAccount account, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        MemoryBudget budget = GetBudget(account, bytes);
        DeadlineThread? deadlines = timeout > TimeSpan.Zero ? _settings.Deadlines : null;
        BudgetRequest request = new(account, bytes, deadlines: deadlines);
        long due = deadlines?.DueAfter(timeout) ?? 0;
        deadlines?.Begin();
        long begun = TellBegin(budget, bytes);
        try
        {
            Post(budget, request, mayWait: timeout != TimeSpan.Zero);
            if (request.IsWaiting)
            {
                AdmissionPoller.Shared.Watch(budget);
                using CancellationTokenRegistration registration =
                    cancellationToken.Register(static state => EndWait((BudgetRequest)state!), request);
                deadlines?.Add(request, due);
                await request.Settled.ConfigureAwait(false);
            }

            if (!request.IsGranted)
            {
                cancellationToken.ThrowIfCancellationRequested();
                throw Refusal(budget, request, timeout, isBudgetTimeout: false);
            }

            TellEnd(bytes, begun, isGranted: true);
        }
        catch
        {
            Withdraw(budget, request);
            TellEnd(bytes, begun, isGranted: false);
            throw;
        }
        finally
        {
            deadlines?.End(request);
        }

        return new BudgetPermit(account, bytes);
    }

    // By the waiting thread's own watch: where many wait, no thread of the pool may be left for a timer.
    private void Wait(MemoryBudget budget, BudgetRequest request, TimeSpan timeout)
    {
        if (!budget.IsLimitedByContainer)
        {
            _settings.Clock.Wait(request.Handle, timeout);
            return;
        }

        long begun = _settings.Clock.NowMilliseconds;
        while (request.IsWaiting && (timeout < TimeSpan.Zero || _settings.Clock.NowMilliseconds - begun < timeout.TotalMilliseconds))
        {
            // The collector, and other processes of the container, wake no one.
            _settings.Clock.Wait(request.Handle, TimeSpan.FromMilliseconds(MemoryBudget.LookAgainMilliseconds));
            budget.LookAgain(_settings.Clock.NowMilliseconds);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryAdmitSlow(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account);
        if (account.LeastChargeWith(bytes) > budget.LimitInBytes)
        {
            return false;
        }

        BudgetRequest request = new(account, bytes);
        long begun = TellBegin(budget, bytes);
        try
        {
            Post(budget, request, mayWait: false);
            TellEnd(bytes, begun, request.IsGranted);
        }
        catch
        {
            // No memory on the managed heap.
            Withdraw(budget, request);
            TellEnd(bytes, begun, isGranted: false);
            throw;
        }

        if (request.Outcome == BudgetOutcome.Closed)
        {
            Throw.Disposed(NameOf(account));
        }

        return request.IsGranted;
    }

    // Throws where no request can be granted.
    private static MemoryBudget GetBudget(BudgetAccount account, long bytes)
    {
        MemoryBudget budget = GetOpenBudget(account);
        long needed = account.LeastChargeWith(bytes);
        if (needed > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes, needed - bytes);
        }

        if (budget.IsLimitedByContainer && budget.Headroom!.Read() is Headroom left && needed > left.LimitBytes - budget.MinimumFreeBytes)
        {
            throw MemoryLimitExceededException.ForMinimumFree(bytes, needed, left.LimitBytes, budget.MinimumFreeBytes, left.FreeBytes);
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

    private static Exception Refusal(MemoryBudget budget, BudgetRequest request, TimeSpan timeout, bool isBudgetTimeout)
    {
        (long bytes, long limit, long used, long needed) = (request.Bytes, budget.LimitInBytes, budget.AdmittedBytes, request.NeededBytes);
        return request.Outcome switch
        {
            BudgetOutcome.Closed => new ObjectDisposedException(NameOf(request.Account)),
            BudgetOutcome.Stuck => MemoryLimitExceededException.ForStuckGrowth(
                bytes, limit, used, needed, request.Reservation!.ReservedBytes, request.AtFailure.HeldBytes, request.AtFailure.PeakBytes),
            BudgetOutcome.NoRoom => ForMinimumFree(budget, request),
            _ when limit == long.MaxValue => ForMinimumFree(budget, request),
            _ => MemoryLimitExceededException.ForTimeout(bytes, limit, used, needed, timeout, isBudgetTimeout),
        };
    }

    private static MemoryLimitExceededException ForMinimumFree(MemoryBudget budget, BudgetRequest request)
    {
        Headroom left = budget.Headroom!.Read();
        return MemoryLimitExceededException.ForMinimumFree(request.Bytes, request.NeededBytes, left.LimitBytes, budget.MinimumFreeBytes, left.FreeBytes);
    }

    private static string NameOf(BudgetAccount account) =>
        account.OutermostReservation is not null && account.Budget?.IsClosed != true ? nameof(MemoryReservation) : nameof(MemoryAllocator);

    private static void EndWait(BudgetRequest request) => request.Account.Budget!.TryWithdraw(request);

    // Before the request is posted: a listener that allocates must not wait behind one that its own thread would have to use.
    private long TellBegin(MemoryBudget budget, long bytes)
    {
        AllocatorEventSource.Log.BudgetWaitBegan(_counters.AllocatorName, bytes, budget.AdmittedBytes, budget.LimitInBytes);
        return _settings.Clock.NowMilliseconds;
    }

    private void TellEnd(long bytes, long begunMilliseconds, bool isGranted) =>
        AllocatorEventSource.Log.BudgetWaitEnded(_counters.AllocatorName, bytes, _settings.Clock.NowMilliseconds - begunMilliseconds, isGranted);

    // Nothing waits for it any more: what it would get, or has got, is for others.
    private static void Withdraw(MemoryBudget budget, BudgetRequest request)
    {
        if (!budget.TryWithdraw(request) && request.IsGranted)
        {
            request.Account.Return(request.Bytes);
        }
    }
}
