using System.Collections.Concurrent;
using Allocator.Budgeting;
using Allocator.Concurrency.Seam;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Threads that take from a budget of a few bytes, wait for it, give up and give back.</summary>
internal sealed class BudgetScenario : Scenario
{
    private readonly long _limit;
    private readonly List<(BudgetAccount Account, long Bytes)> _outFromTheStart = [];
    private readonly List<BudgetRequest> _requests = [];
    private readonly List<BudgetRequest> _takenAtOnce = [];
    private readonly List<BudgetRequest> _atPost = [];
    private readonly List<ReservationAccount> _reservations = [];
    private readonly ConcurrentDictionary<BudgetRequest, bool> _resumed = [];

    public BudgetScenario(long limit)
    {
        _limit = limit;
        Budget = new MemoryBudget(limit, new StillClock());
        WorkItems.Clear();
    }

    public MemoryBudget Budget { get; }

    /// <summary>Gets how many requests are to have been granted at the end; null where it depends.</summary>
    public int? Grants { get; init; }

    /// <summary>Adds a thread that gives back what is out from the start.</summary>
    public BudgetScenario Returns(long bytes)
    {
        Assert.True(Budget.TryTake(bytes, overtakes: false));
        Thread($"returns {bytes}", () => Budget.Return(bytes));
        return this;
    }

    /// <summary>Has bytes out to the end.</summary>
    public BudgetScenario Holds(long bytes)
    {
        Assert.True(Budget.TryTake(bytes, overtakes: false));
        _outFromTheStart.Add((Budget, bytes));
        return this;
    }

    /// <summary>
    /// Adds a thread that takes bytes and keeps them, and waits for them where it must: without a thread, so it comes to its end at once.
    /// </summary>
    public BudgetScenario Waits(long bytes) => Waits(Budget, bytes, givesUp: false);

    /// <summary>Adds a thread that asks for bytes and does not wait, and keeps what it gets.</summary>
    public BudgetScenario Asks(long bytes) => Waits(Budget, bytes, givesUp: false, mayWait: false);

    /// <summary>Adds a thread that posts a request, and at once gives it up.</summary>
    public BudgetScenario GivesUp(long bytes) => Waits(Budget, bytes, givesUp: true);

    /// <summary>Adds a thread that takes bytes where they are to be had at once, and gives them back.</summary>
    public BudgetScenario TakesAndReturns(long bytes)
    {
        Thread($"takes and returns {bytes}", () =>
        {
            if (Budget.TryTake(bytes, overtakes: false))
            {
                Budget.Return(bytes);
            }
        });
        return this;
    }

    /// <summary>Adds a waiter that requests have overtaken so often before the threads begin.</summary>
    public BudgetScenario WaitsOvertaken(int times, long bytes, bool givesUp = false)
    {
        BudgetRequest waiter = new(Budget, bytes);
        waiter.ContinueWith(_ => _resumed[waiter] = true, null);
        _requests.Add(waiter);
        Budget.Post(waiter);
        for (int i = 0; i < times; i++)
        {
            BudgetRequest other = new(Budget, 1);
            Budget.Post(other);
            Assert.True(other.IsGranted && waiter.IsWaiting);
            Budget.Return(1);
        }

        if (givesUp)
        {
            Thread($"gives {bytes} up", () => Budget.TryCancel(waiter));
        }

        return this;
    }

    /// <summary>Adds a reservation, of which some is out from the start.</summary>
    public BudgetScenario Reserved(long bytes, long ofWhichOut, out ReservationAccount account)
    {
        Assert.True(Budget.TryTake(bytes, overtakes: false));
        account = new ReservationAccount(Budget, bytes);

        // Up to the most that was used before, the account takes no lock.
        Assert.True(account.TryTake(bytes, overtakes: false));
        account.Return(bytes);
        Assert.True(ofWhichOut == 0 || account.TryTake(ofWhichOut, overtakes: false));
        if (ofWhichOut > 0)
        {
            _outFromTheStart.Add((account, ofWhichOut));
        }

        _reservations.Add(account);
        return this;
    }

    /// <summary>Adds a thread that takes from an account, and waits where it must.</summary>
    public BudgetScenario Waits(BudgetAccount account, long bytes, bool givesUp = false, bool mayWait = true)
    {
        BudgetRequest request = new(account, bytes);
        request.ContinueWith(_ => _resumed[request] = true, null);
        _requests.Add(request);
        Thread($"{(account.OutermostReservation is null ? "" : "reservation ")}waits for {bytes}{(givesUp ? ", gives up" : "")}", () =>
        {
            if (account.TryTake(bytes, overtakes: false))
            {
                _takenAtOnce.Add(request);
                return;
            }

            Budget.Post(request, mayWait);
            if (!request.IsWaiting)
            {
                _atPost.Add(request);
            }

            if (givesUp)
            {
                Budget.TryCancel(request);
            }
        });
        return this;
    }

    /// <summary>Adds a reservation by name, of which so much was used, and a thread that ends it.</summary>
    public BudgetScenario ClosesLearned(LearnedJob job, long usedBytes)
    {
        long bytes = job.SizeFor(Budget);
        Assert.True(Budget.TryTake(bytes, overtakes: false));
        ReservationAccount account = new(Budget, bytes) { Job = job };
        Assert.True(account.TryTake(usedBytes, overtakes: false));
        account.Return(usedBytes);
        _reservations.Add(account);
        return Closes(account);
    }

    /// <summary>Adds a reservation by name, of what half of such jobs needed.</summary>
    public BudgetScenario ReservedLearned(LearnedJob job, out ReservationAccount account)
    {
        long bytes = job.SizeFor(Budget);
        Assert.True(Budget.TryBegin(job, bytes, overtakes: false));
        account = new ReservationAccount(Budget, bytes) { Job = job };
        _reservations.Add(account);
        return this;
    }

    /// <summary>Adds a thread that reserves by name, and waits where it must.</summary>
    public BudgetScenario WaitsLearned(LearnedJob job)
    {
        BudgetRequest request = new(Budget, job.SizeFor(Budget), job: job);
        request.ContinueWith(_ => _resumed[request] = true, null);
        _requests.Add(request);
        Thread("reserves by name", () =>
        {
            Budget.Post(request);
            if (!request.IsWaiting)
            {
                _atPost.Add(request);
            }
        });
        return this;
    }

    /// <summary>Adds a thread that has a reservation grow, and waits for that where it must.</summary>
    public BudgetScenario Grows(ReservationAccount account, long bytes, bool givesUp = false) =>
        Waits(account.AsGrowth(), bytes, givesUp);

    /// <summary>Adds a thread that takes from a reservation and gives back.</summary>
    public BudgetScenario TakesAndReturns(ReservationAccount account, long bytes)
    {
        Thread($"takes and returns {bytes} of the reservation", () =>
        {
            if (account.TryTake(bytes, overtakes: false))
            {
                account.Return(bytes);
            }
        });
        return this;
    }

    /// <summary>Adds a thread that ends a reservation.</summary>
    public BudgetScenario Closes(ReservationAccount account)
    {
        Thread("closes the reservation", () => account.Close());
        return this;
    }

    /// <summary>Adds a thread that disposes of all.</summary>
    public BudgetScenario ClosesAll()
    {
        Thread("closes the budget", Budget.Close);
        return this;
    }

    public override void Check()
    {
        ExpectNoneForgotten();
        if (Grants is int grants)
        {
            Assert.Equal(grants, _requests.Count(IsServed));
        }

        // All is given back, and so all that wait get their turn.
        HashSet<BudgetRequest> returned = [];
        foreach ((BudgetAccount account, long bytes) in _outFromTheStart)
        {
            account.Return(bytes);
        }

        while (_requests.Find(request => IsServed(request) && returned.Add(request)) is BudgetRequest granted)
        {
            granted.Account.Return(granted.Bytes);
        }

        foreach (ReservationAccount reservation in _reservations)
        {
            reservation.Close();
        }

        Assert.True(_requests.TrueForAll(request => !IsLeftWaiting(request)), "A request waits although nothing is outstanding.");
        Assert.True(
            _requests.TrueForAll(static request => request.Reservation?.Job is null || request.Outcome != BudgetOutcome.Stuck),
            "Jobs that need no more than others before them wait for each other.");
        WorkItems.DoAll();
        Assert.True(_requests.TrueForAll(request => request.IsWaiting
            || _atPost.Contains(request)
            || System.Threading.SpinWait.SpinUntil(() => _resumed.ContainsKey(request), TimeSpan.FromSeconds(30))),
            "A waiter was not notified.");
        Assert.Equal(0, Budget.ReservedBytes);
        Assert.Equal(0, Budget.AdmittedBytes);
        Assert.False(Budget.HasWaiters);
    }

    // No wake-up is lost: the first waiter does not fit. Growth of a learned job may have to leave room for another one to end.
    private void ExpectNoneForgotten()
    {
        Assert.InRange(Budget.AdmittedBytes, 0, _limit);
        long smallest = _requests.Where(request => IsLeftWaiting(request) && request.Reservation?.Job is null)
            .Select(static request => request.Bytes).DefaultIfEmpty(long.MaxValue).Min();
        Assert.True(smallest > _limit - Budget.AdmittedBytes, "A wake-up was lost: a request waits for what is free.");
    }

    private bool IsServed(BudgetRequest request) => request.IsGranted || _takenAtOnce.Contains(request);

    private bool IsLeftWaiting(BudgetRequest request) => request.IsWaiting && !_takenAtOnce.Contains(request);
}
