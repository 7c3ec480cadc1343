using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Allocator.Diagnostics;

/// <summary>
/// Counts an allocator's rents of managed arrays, by thread and without interlocked operations: a shared counter would cost as much as the rent.
/// Reading sums over the threads; it is exact while none of them allocates.
/// </summary>
internal sealed class ArrayCounters : IAllocationSource
{
    private readonly List<(WeakReference<ThreadAccounts> Thread, ArrayAccount Account)> _accounts = [];
    private ArrayCounts _ofEndedThreads;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static ThreadAccounts? t_accounts;
#pragma warning restore IDE1006

    public long OutstandingAllocations
    {
        get
        {
            ArrayCounts sum = Sum();
            return sum.Rents - sum.Returns;
        }
    }

    public ArrayAccount OfThisThread()
    {
        ThreadAccounts? accounts = t_accounts;
        return accounts is not null && accounts.Last.Owner == this ? accounts.Last : OfThisThreadSlow();
    }

    public ArrayCounts Sum()
    {
        lock (_accounts)
        {
            // All returns before any rent: what is rented and returned meanwhile, on two threads, is then seen as out rather than as less than nothing.
            ArrayCounts sum = _ofEndedThreads;
            foreach ((_, ArrayAccount account) in _accounts)
            {
                account.AddReturnsTo(ref sum);
            }

            foreach ((_, ArrayAccount account) in _accounts)
            {
                account.AddRentsTo(ref sum);
            }

            return sum;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ArrayAccount OfThisThreadSlow()
    {
        ThreadAccounts? accounts = t_accounts;
        if (accounts is not null && accounts.All.TryGetValue(this, out ArrayAccount? known))
        {
            accounts.Last = known;
            return known;
        }

        ArrayAccount account = new(this);
        if (accounts is null)
        {
            t_accounts = accounts = new ThreadAccounts(account);
        }

        accounts.All.Add(this, account);
        accounts.Last = account;
        lock (_accounts)
        {
            FoldEndedThreads();
            _accounts.Add((new WeakReference<ThreadAccounts>(accounts), account));
        }

        return account;
    }

    private void FoldEndedThreads()
    {
        for (int i = _accounts.Count - 1; i >= 0; i--)
        {
            if (!_accounts[i].Thread.TryGetTarget(out _))
            {
                _accounts[i].Account.AddReturnsTo(ref _ofEndedThreads);
                _accounts[i].Account.AddRentsTo(ref _ofEndedThreads);
                _accounts.RemoveAt(i);
            }
        }
    }

    /// <summary>All accounts of one thread. Only the thread itself holds it, so it ends with it.</summary>
    private sealed class ThreadAccounts
    {
        public ThreadAccounts(ArrayAccount first) => Last = first;

        public ArrayAccount Last { get; set; }

        // Weak, so that a thread does not keep the counters of every allocator it ever met.
        public ConditionalWeakTable<ArrayCounters, ArrayAccount> All { get; } = new();
    }
}
