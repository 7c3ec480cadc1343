using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Budgeting;
using Allocator.Diagnostics;
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
        BudgetRequest request = CreateRequest(account, bytes, isPatient: timeout != TimeSpan.Zero);
        long begun = TellBegin(request);
        try
        {
            Post(request);
            if (request.IsWaiting)
            {
                Wait(request, timeout);
            }

            request.Settled.GetAwaiter().GetResult();
        }
        catch
        {
            // Its own end, or an interrupt, or no memory on the managed heap.
            Withdraw(request);
            TellEnd(request, begun, isGranted: false);
            throw;
        }

        TellEnd(request, begun, isGranted: true);
        return new BudgetPermit(account, bytes);
    }

    private async ValueTask<BudgetPermit> WaitAsync(BudgetAccount account, long bytes, CancellationToken cancellationToken)
    {
        BudgetRequest request = CreateRequest(account, bytes, isPatient: true);
        long begun = TellBegin(request);
        try
        {
            Post(request);
            using CancellationTokenRegistration registration = request.IsWaiting ? CancelWith(request, cancellationToken) : default;
            await request.Settled.ConfigureAwait(false);
        }
        catch
        {
            Withdraw(request);
            TellEnd(request, begun, isGranted: false);
            throw;
        }

        TellEnd(request, begun, isGranted: true);
        return new BudgetPermit(account, bytes);
    }

    private static BudgetRequest CreateRequest(BudgetAccount account, long bytes, bool isPatient)
    {
        MemoryBudget? budget = account.Budget;
        if (account.IsClosed || budget is null)
        {
            Throw.Disposed(account is ReservationAccount && budget?.IsClosed != true ? nameof(MemoryReservation) : nameof(MemoryAllocator));
        }

        return bytes > budget.LimitInBytes
            ? throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes)
            : new BudgetRequest(account, bytes, isPatient);
    }

    // A request that is only asked for has its answer when whoever serves the queue has looked at it; others can as well begin to wait.
    private void Post(BudgetRequest request)
    {
        request.Account.Budget!.Post(request);
        SpinWait wait = default;
        while (!request.WasConsidered && request.IsWaiting && !(request.IsPatient && wait.NextSpinWillYield))
        {
            wait.SpinOnce();
        }

        if (!request.IsGranted)
        {
            // Part of what is out may have been abandoned; and somebody has to look for it as long as anybody waits.
            _settings.Scheduler.RequestCollection(_settings.Options.TrimPeriod);
            _settings.Scheduler.Wake(_trimmer);
            _counters.CountBudgetWait();
        }
    }

    private void Wait(BudgetRequest request, TimeSpan timeout)
    {
        // By the waiting thread's own watch: where many wait, no thread of the pool may be left for a timer.
        if (timeout != TimeSpan.Zero)
        {
            _settings.Clock.Wait(request.Settled, timeout);
        }

        MemoryBudget budget = request.Account.Budget!;
        if (request.IsWaiting && request.TryFail(MemoryLimitExceededException.ForTimeout(request.Bytes, budget.LimitInBytes, budget.UsedBytes, timeout)))
        {
            budget.ServeWaiters();
        }
    }

    private static CancellationTokenRegistration CancelWith(BudgetRequest request, CancellationToken cancellationToken) => cancellationToken.Register(() =>
    {
        if (request.TryCancel(cancellationToken))
        {
            request.Account.Budget!.ServeWaiters();
        }
    });

    // Before the request is posted: a listener that allocates must not wait behind one that its own thread would have to use.
    private long TellBegin(BudgetRequest request)
    {
        MemoryBudget budget = request.Account.Budget!;
        AllocatorEventSource.Log.BudgetWaitBegan(_counters.AllocatorName, request.Bytes, budget.UsedBytes, budget.LimitInBytes);
        return _settings.Clock.NowMilliseconds;
    }

    private void TellEnd(BudgetRequest request, long begunMilliseconds, bool isGranted) =>
        AllocatorEventSource.Log.BudgetWaitEnded(_counters.AllocatorName, request.Bytes, _settings.Clock.NowMilliseconds - begunMilliseconds, isGranted);

    // Nobody waits for it any more: what it gets, or has got, is for others.
    private static void Withdraw(BudgetRequest request)
    {
        if (request.TryCancel(CancellationToken.None))
        {
            request.Account.Budget!.ServeWaiters();
        }
        else if (request.IsGranted)
        {
            request.Account.Return(request.Bytes);
        }
    }
}
