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

    /// <summary>Takes what a request needs; waits without a thread, until there is room or the user gives up.</summary>
    /// <exception cref="MemoryLimitExceededException">It never fits.</exception>
    /// <exception cref="OperationCanceledException">The user gave up. Nothing was taken.</exception>
    /// <exception cref="ObjectDisposedException">The allocator, or the reservation, was disposed meanwhile.</exception>
    public ValueTask<BudgetPermit> AdmitAsync(BudgetAccount? account, long bytes, CancellationToken cancellationToken)
    {
        if (account is null || bytes == 0)
        {
            return default;
        }

        return account.TryTake(bytes, overtakes: false)
            ? new ValueTask<BudgetPermit>(new BudgetPermit(account, bytes))
            : WaitAsync(account, bytes, cancellationToken);
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
                throw Refusal(budget, request, timeout);
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

    private async ValueTask<BudgetPermit> WaitAsync(BudgetAccount account, long bytes, CancellationToken cancellationToken)
    {
        MemoryBudget budget = GetBudget(account, bytes);
        BudgetRequest request = new(account, bytes);
        long begun = TellBegin(budget, bytes);
        try
        {
            Post(budget, request, mayWait: true);
            if (request.IsWaiting)
            {
                AdmissionPoller.Shared.Watch(budget);
                using CancellationTokenRegistration registration =
                    cancellationToken.Register(static state => EndWait((BudgetRequest)state!), request);
                await request.Settled.ConfigureAwait(false);
            }

            if (!request.IsGranted)
            {
                cancellationToken.ThrowIfCancellationRequested();
                throw Refusal(budget, request, TimeSpan.Zero);
            }

            TellEnd(bytes, begun, isGranted: true);
        }
        catch
        {
            Withdraw(budget, request);
            TellEnd(bytes, begun, isGranted: false);
            throw;
        }

        return new BudgetPermit(account, bytes);
    }

    // By the waiting thread's own watch: where many wait, no thread of the pool may be left for a timer.
    private void Wait(MemoryBudget budget, BudgetRequest request, TimeSpan timeout)
    {
        if (budget.Headroom is null)
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

    // Throws where no request can be granted.
    private static MemoryBudget GetBudget(BudgetAccount account, long bytes)
    {
        MemoryBudget? budget = account.Budget;
        if (account.IsClosed || budget is null)
        {
            Throw.Disposed(NameOf(account));
        }

        if (bytes > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes);
        }

        if (budget.Headroom?.Read() is Headroom left && bytes > left.LimitBytes - budget.MinimumFreeBytes)
        {
            throw MemoryLimitExceededException.ForMinimumFree(bytes, left.LimitBytes, budget.MinimumFreeBytes, left.FreeBytes);
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

    private static Exception Refusal(MemoryBudget budget, BudgetRequest request, TimeSpan timeout) => request.Outcome switch
    {
        BudgetOutcome.Closed => new ObjectDisposedException(NameOf(request.Account)),
        BudgetOutcome.Stuck => MemoryLimitExceededException.ForStuckGrowth(
            request.Bytes,
            budget.LimitInBytes,
            request.Reservation!.ReservedBytes,
            request.AtFailure.HeldBytes,
            request.AtFailure.PeakBytes),
        BudgetOutcome.NoRoom => ForMinimumFree(budget, request),
        _ when budget.LimitInBytes == long.MaxValue => ForMinimumFree(budget, request),
        _ => MemoryLimitExceededException.ForTimeout(request.Bytes, budget.LimitInBytes, budget.UsedBytes, timeout),
    };

    private static MemoryLimitExceededException ForMinimumFree(MemoryBudget budget, BudgetRequest request)
    {
        Headroom left = budget.Headroom!.Read();
        return MemoryLimitExceededException.ForMinimumFree(request.Bytes, left.LimitBytes, budget.MinimumFreeBytes, left.FreeBytes);
    }

    private static string NameOf(BudgetAccount account) =>
        account is ReservationAccount && account.Budget?.IsClosed != true ? nameof(MemoryReservation) : nameof(MemoryAllocator);

    private static void EndWait(BudgetRequest request) => request.Account.Budget!.TryWithdraw(request);

    // Before the request is posted: a listener that allocates must not wait behind one that its own thread would have to use.
    private long TellBegin(MemoryBudget budget, long bytes)
    {
        AllocatorEventSource.Log.BudgetWaitBegan(_counters.AllocatorName, bytes, budget.UsedBytes, budget.LimitInBytes);
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
