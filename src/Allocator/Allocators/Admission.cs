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
        BudgetRequest request = Post(account, bytes, out bool isWaiting);
        if (isWaiting)
        {
            TimeSpan timeout = _settings.Options.BudgetTimeout;
            if (timeout == TimeSpan.Zero)
            {
                _counters.CountBudgetWait();
                GiveUp(request);
            }
            else
            {
                Block(request, timeout);
            }
        }

        request.Settled.GetAwaiter().GetResult();
        return new BudgetPermit(account, bytes);
    }

    private async ValueTask<BudgetPermit> WaitAsync(BudgetAccount account, long bytes, CancellationToken cancellationToken)
    {
        BudgetRequest request = Post(account, bytes, out bool isWaiting);
        if (isWaiting)
        {
            using CancellationTokenRegistration registration = cancellationToken.Register(() =>
            {
                if (request.TryCancel(cancellationToken))
                {
                    account.Budget!.ServeWaiters();
                }
            });
            _counters.CountBudgetWait();
            await request.Settled.ConfigureAwait(false);
        }
        else
        {
            await request.Settled.ConfigureAwait(false);
        }

        return new BudgetPermit(account, bytes);
    }

    // Gives whether the request has to wait, which is known as soon as whoever serves the queue has looked at it.
    private BudgetRequest Post(BudgetAccount account, long bytes, out bool isWaiting)
    {
        MemoryBudget? budget = account.Budget;
        if (account.IsClosed || budget is null)
        {
            Throw.Disposed(account is ReservationAccount ? nameof(MemoryReservation) : nameof(MemoryAllocator));
        }

        if (bytes > budget.LimitInBytes)
        {
            throw MemoryLimitExceededException.ForBudget(bytes, budget.LimitInBytes);
        }

        BudgetRequest request = new(account, bytes);
        budget.Post(request);
        SpinWait wait = default;
        while (!request.WasConsidered && request.IsWaiting)
        {
            wait.SpinOnce();
        }

        isWaiting = request.IsWaiting;
        if (isWaiting)
        {
            LookForAbandoned(request);
        }

        return request;
    }

    // Part of what is out may have been abandoned; and somebody has to look for it as long as anybody waits.
    private void LookForAbandoned(BudgetRequest request)
    {
        try
        {
            _settings.Scheduler.RequestCollection(_settings.Options.TrimPeriod);
            _settings.Scheduler.Wake(_trimmer);
        }
        catch (Exception e)
        {
            Withdraw(request, e);
            throw;
        }
    }

    private static void Withdraw(BudgetRequest request, Exception reason)
    {
        if (request.TryFail(reason))
        {
            request.Account.Budget!.ServeWaiters();
        }
        else if (request.IsGranted)
        {
            request.Account.Return(request.Bytes);
        }
    }

    private void Block(BudgetRequest request, TimeSpan timeout)
    {
        if (timeout == Timeout.InfiniteTimeSpan)
        {
            _counters.CountBudgetWait();
            request.Settled.GetAwaiter().GetResult();
            return;
        }

        using ClockTimer timer = _settings.Clock.CreateTimer(() => GiveUp(request));
        timer.Start(timeout);
        _counters.CountBudgetWait();
        request.Settled.GetAwaiter().GetResult();
    }

    private void GiveUp(BudgetRequest request)
    {
        MemoryBudget budget = request.Account.Budget!;
        if (request.TryFail(MemoryLimitExceededException.ForTimeout(request.Bytes, budget.LimitInBytes, budget.UsedBytes, _settings.Options.BudgetTimeout)))
        {
            budget.ServeWaiters();
        }
    }
}
