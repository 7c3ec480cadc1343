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
    private readonly Dictionary<BudgetRequest, ReservationAccount> _begun = [];

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
        account = new ReservationAccount(Budget, new RunningJob(bytes));
        Assert.True(account.TryBegin(overtakes: false));

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

    /// <summary>Adds a job by name that has begun, and has used so much.</summary>
    public BudgetScenario ReservedLearned(LearnedJob job, long usedBytes, out ReservationAccount account)
    {
        account = new ReservationAccount(Budget, new RunningJob(job.Of(1), 1));
        Assert.True(account.TryBegin(overtakes: false));
        if (usedBytes > 0)
        {
            Assert.True(account.TryTake(usedBytes, overtakes: false));
            account.Return(usedBytes);
        }

        _reservations.Add(account);
        return this;
    }

    /// <summary>Adds a thread that reserves by name, waits where it must, and perhaps gives up at once.</summary>
    public BudgetScenario WaitsLearned(LearnedJob job, bool givesUp = false)
    {
        ReservationAccount account = new(Budget, new RunningJob(job.Of(1), 1));
        BudgetRequest request = new(Budget, LearnedSize.Granularity, begins: account);
        _requests.Add(request);
        _begun.Add(request, account);
        Thread($"reserves by name{(givesUp ? ", gives up" : "")}", () =>
        {
            if (account.TryBegin(overtakes: false))
            {
                _takenAtOnce.Add(request);
                return;
            }

            Budget.Post(request);
            if (!request.IsWaiting)
            {
                _atPost.Add(request);
            }

            if (givesUp && Budget.TryCancel(request))
            {
                account.Close();
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
            if (_begun.TryGetValue(granted, out ReservationAccount? begun))
            {
                begun.Close();
            }
            else
            {
                granted.Account.Return(granted.Bytes);
            }
        }

        foreach (ReservationAccount reservation in _reservations)
        {
            reservation.Close();
        }

        Assert.True(_requests.TrueForAll(request => !IsLeftWaiting(request)), "A request waits although nothing is outstanding.");
        WorkItems.DoAll();
        Assert.True(_requests.TrueForAll(request => request.IsWaiting
            || _atPost.Contains(request)
            || System.Threading.SpinWait.SpinUntil(() => request.Task.IsCompleted, TimeSpan.FromSeconds(30))),
            "A waiter was not notified.");
        Assert.Equal(0, Budget.ReservedBytes);
        Assert.Equal(0, Budget.AdmittedBytes);
        Assert.Equal(0, Budget.Jobs.All.Sum(static job => job.Of(1).Running));
        Assert.False(Budget.HasWaiters);
    }

    // No wake-up is lost: the first waiter does not fit. Jobs by name also wait for others to end, or to have run for some time.
    private void ExpectNoneForgotten()
    {
        Assert.InRange(Budget.AdmittedBytes, 0, _limit);
        long smallest = _requests.Where(request => IsLeftWaiting(request) && !_begun.ContainsKey(request))
            .Select(static request => request.Bytes).DefaultIfEmpty(long.MaxValue).Min();
        Assert.True(smallest > _limit - Budget.AdmittedBytes, "A wake-up was lost: a request waits for what is free.");
    }

    private bool IsServed(BudgetRequest request) => request.IsGranted || _takenAtOnce.Contains(request);

    private bool IsLeftWaiting(BudgetRequest request) => request.IsWaiting && !_takenAtOnce.Contains(request);
}
