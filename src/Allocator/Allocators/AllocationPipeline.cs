using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Guarding;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Serves each request that the fast path does not. It plans the request, admits it if there is a budget, fills it from arrays, guarded
/// mappings, the pool or the system, and begins the rent. If any step fails, everything is as it was.
/// </summary>
[DebuggerDisplay("{Settings.Safety} mode")]
internal sealed class AllocationPipeline(
    AllocatorSettings settings,
    AllocatorContext context,
    ArraySource arrays,
    CountedArrayPool countedArrays,
    UniformUnmanagedMemoryPool pool,
    GuardedSource? guarded,
    PoolTrimmer trimmer,
    MemoryRecovery recovery)
{
    private readonly OutstandingGrowth _growth = new();
    private readonly bool _countsArrays = settings.HonorsMemoryLimit;
    private readonly SafetySampler? _sampler = guarded is null ? null
        : new SafetySampler(settings.Safety == SafetyMode.Guarded ? 1 : settings.Options.SafetySampleInterval);

    public AllocatorSettings Settings { get; } = settings;

    public AdmissionControl Admission { get; } = new(settings, context.Counters, trimmer);

    /// <summary>Decides how a request will be laid out in memory.</summary>
    /// <exception cref="MemoryLimitExceededException">It is larger than one allocation may be.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The elements that must stay together do not fit into a segment.</exception>
    public AllocationPlan Plan(in AllocationRequest request)
    {
        long bytes = request.LengthInBytes;
        if (bytes > Settings.AllocationLimitInBytes)
        {
            Throw.LimitExceeded(bytes, Settings.AllocationLimitInBytes);
        }

        int segment = Settings.SegmentSizeInBytes;
        if (request.UndividedBytes > segment && !request.MakeContiguousWhereNeeded)
        {
            Throw.OutOfRange(
                "rowLength",
                request.ElementAlignment,
                $"must be at most {segment / request.ElementSizeInBytes}, which {segment} bytes hold");
        }

        return new AllocationPlan(request, Settings, pool);
    }

    /// <summary>
    /// Returns the plan if its account could ever have room for it; otherwise one that is not rounded up to blocks or powers of two. The
    /// same if a reservation has the requested bytes left but the budget has no room for the rounding: nothing waits for that.
    /// </summary>
    /// <param name="plan">The plan.</param>
    /// <param name="request">What it is for.</param>
    /// <param name="account">The account that pays for it.</param>
    /// <param name="permit">What was taken to find out; it pays for the plan that is returned.</param>
    /// <exception cref="MemoryLimitExceededException">That never fits either.</exception>
    public AllocationPlan Fit(in AllocationPlan plan, in AllocationRequest request, BudgetAccount? account, out BudgetPermit permit)
    {
        permit = default;
        if (account is not { Budget: { } budget, IsClosed: false })
        {
            return plan;
        }

        bool fitsEver = LeastChargeOf(plan) <= budget.LimitInBytes;
        if (fitsEver && (account.OutermostReservation is null
            || AdmissionControl.TryAcquireAtOnce(account, plan.UpperBoundInBytes(), out permit)))
        {
            return plan;
        }

        AllocationPlan exact = new(request with { IsExact = true }, Settings, pool);
        if (fitsEver)
        {
            long bytes = exact.UpperBoundInBytes();
            return account.ChargeFor(bytes) <= bytes - request.LengthInBytes ? exact : plan;
        }

        return LeastChargeOf(exact) is long needed && needed <= budget.LimitInBytes
            ? exact
            : throw MemoryLimitExceededException.ForBudget(
                request.LengthInBytes, budget.LimitInBytes, needed - exact.UpperBoundInBytes());

        long LeastChargeOf(in AllocationPlan plan) => account.LeastChargeWith(plan.UpperBoundInBytes());
    }

    /// <summary>Returns the most memory that a request can take; if it is above the limit for one allocation, its length.</summary>
    public long UpperBoundOf(in AllocationRequest request) =>
        request.LengthInBytes is long bytes && bytes > Settings.AllocationLimitInBytes
            ? bytes
            : new AllocationPlan(request, Settings, pool).UpperBoundInBytes();

    /// <summary>Fits a plan to its account, blocking if the budget has no room for it, fills it, and begins the rent.</summary>
    public void Allocate(BudgetAccount? account, in AllocationRequest request, in AllocationPlan plan, out Allocation allocation)
    {
        AllocationPlan fitting = Fit(plan, request, account, out BudgetPermit permit);
        bool isAdmitted = account is null || permit.Account is not null;
        Allocate(fitting, isAdmitted ? permit : Admission.Acquire(account, fitting.UpperBoundInBytes()), out allocation);
    }

    /// <summary>Fills a plan and begins the rent. If this fails, the permit is returned.</summary>
    public void Allocate(in AllocationPlan plan, in BudgetPermit permit, out Allocation allocation)
    {
        Filling filling = default;
        try
        {
            while (!TryAllocate(plan, permit, ref filling, mayBlock: true))
            {
                Settings.Clock.Delay(filling.Pause);
            }
        }
        catch (Exception exception)
        {
            try
            {
                Cancel(filling.Allocation, permit, exception);
            }
            finally
            {
                permit.Return();
            }

            throw;
        }

        End(plan, permit, filling);
        allocation = filling.Allocation;
    }

    /// <summary>
    /// As <see cref="Allocate(in AllocationPlan, in BudgetPermit, out Allocation)"/>, without blocking a thread. If this fails, the caller
    /// returns the permit: it may fail before it runs.
    /// </summary>
    public async ValueTask<Allocation> AllocateAsync(AllocationPlan plan, BudgetPermit permit)
    {
        Filling filling = default;
        try
        {
            while (!TryAllocate(plan, permit, ref filling, mayBlock: false))
            {
                await (filling.NeedsLastResort ? recovery.RunLastResortAsync() : Settings.Clock.DelayAsync(filling.Pause))
                    .ConfigureAwait(false);
            }
        }
        catch (Exception exception)
        {
            Cancel(filling.Allocation, permit, exception);
            throw;
        }

        End(plan, permit, filling);
        return filling.Allocation;
    }

    /// <summary>Returns the array of a rent that has begun, for a caller that holds nothing but the array.</summary>
    public byte[] Lend(in Allocation allocation) => countedArrays.Lend((CountedArrayGuard)allocation.Guard!, allocation.Generation);

    public Admission AdmitAsync(BudgetAccount? account, in AllocationPlan plan, CancellationToken cancellationToken) =>
        account is null ? default : Admission.AcquireAsync(account, plan.UpperBoundInBytes(), Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>Counts memory that others allocate until the result is disposed, and releases idle memory for it.</summary>
    public ExternalMemory TrackExternalMemory(BudgetAccount? account, long bytes)
    {
        ExternalMemory external = new(context.Budget);
        try
        {
            external.Permit = Admission.Acquire(account, bytes);
            for (Refusals refusals = default; !external.TryCount(bytes, ref refusals);)
            {
                Settings.Clock.Delay(recovery.Recover(ref refusals, bytes, missingBytes: 0));
            }

            return external;
        }
        catch
        {
            external.Dispose();
            throw;
        }
    }

    /// <summary>Tells the trimmer that the system may have supplied memory.</summary>
    public void NoteSystemMemory()
    {
        Settings.Clock.RefreshCoarse();
        if (trimmer.HasWork)
        {
            Settings.Scheduler.Wake(trimmer);
        }
    }

    // Makes one attempt. If it fails, makes room for the next one, after the pause.
    private bool TryAllocate(in AllocationPlan plan, in BudgetPermit permit, ref Filling filling, bool mayBlock)
    {
        if (!filling.HasBegun)
        {
            // The first call on a thread takes managed memory.
            filling.IsWatched = _sampler is not null && plan.CanBeWatched && _sampler.Chooses();
            filling.HasBegun = true;
            bool isCounted = permit.Account is not null || _countsArrays || plan.IsArray || plan.IsExact;
            if (plan.FitsArray && !filling.IsWatched && (!isCounted || plan.LengthInBytes == 0))
            {
                ArrayGuard guard = arrays.Rent((int)plan.LengthInBytes, plan.IsClean, out long generation);
                filling.Allocation = new Allocation(guard, generation, plan.Layout);
                return true;
            }
        }

        if (!TryFill(plan, ref filling))
        {
            filling.NeedsLastResort = !mayBlock && recovery.NeedsLastResort(filling.Refusals);
            if (filling.NeedsLastResort)
            {
                filling.Refusals.BeginAttempt();
                return false;
            }

            filling.Pause = recovery.Recover(
                ref filling.Refusals, plan.LengthInBytes, plan.IsContiguous ? 0 : plan.MissingBytes(filling.Filled));
            return false;
        }

        if (filling.IsMiss)
        {
            NoteSystemMemory();
        }

        for (FinalizableGuard? part = filling.Allocation.First; part is not null; part = part.Next)
        {
            part.Prepare(plan.IsClean);
        }

        filling.Allocation.Begin();
        return true;
    }

    private void End(in AllocationPlan plan, in BudgetPermit permit, in Filling filling)
    {
        // An array that is not counted has no such guard.
        if (filling.Allocation.First is not { } first)
        {
            return;
        }

        first.Charge(permit);

        // Hits and misses are those of the pool. A small request with an alignment counts only if a block served it, not the heap.
        bool isServedByPool = filling.Allocation.Guard is BlockGuard;
        if (filling.IsMiss && !plan.IsArray && (!plan.IsSmall || isServedByPool))
        {
            context.Counters.CountMiss(isServedByPool);
        }
    }

    // The parts already taken become idle, and the trimmer must know that.
    private void Cancel(in Allocation allocation, in BudgetPermit permit, Exception exception)
    {
        // A hook of the user may have failed as well, or the thread was interrupted.
        if (exception is OutOfMemoryException or MemoryLimitExceededException)
        {
            permit.Account?.OutermostReservation?.NoteRefusal();
        }

        Debug.Assert(allocation.Generation == 0, "No rent has begun.");
        allocation.First?.Cancel();
        NoteSystemMemory();
    }

    private bool TryFill(in AllocationPlan plan, ref Filling filling)
    {
        Debug.Assert(plan.MemberCount > 0);
        ref Allocation allocation = ref filling.Allocation;
        if (filling.IsWatched)
        {
            FillGuarded(plan, ref allocation, ref filling.Refusals, ref filling.Filled, ref filling.IsMiss);
        }
        else if (plan.FitsArray)
        {
            FillArray(plan, ref allocation, ref filling.Refusals, ref filling.Filled, ref filling.IsMiss);
        }
        else
        {
            FillNative(plan, ref allocation, ref filling.Refusals, ref filling.Filled, ref filling.IsMiss);
        }

        if (filling.Filled == plan.MemberCount)
        {
            plan.Locate(ref allocation);
            return Commitment.TryPopulate(allocation.First!, ref filling.Refusals);
        }

        return false;
    }

    private void FillGuarded(
        in AllocationPlan plan, ref Allocation allocation, ref Refusals refusals, ref int filled, ref bool isMiss)
    {
        Debug.Assert(guarded is not null, "Rents are watched in Sampled and Guarded mode.");
        isMiss = true;
        while (filled < plan.MemberCount)
        {
            long bytes = plan.BytesOfSegment(filled, plan.GuardedMembers);
            if (guarded!.TryRent(bytes, plan.AlignmentInBytes, plan.IsClean, ref refusals) is not GuardedMappingGuard guard)
            {
                return;
            }

            allocation.Add(guard);
            filled += plan.GuardedMembers;
        }
    }

    private void FillArray(
        in AllocationPlan plan, ref Allocation allocation, ref Refusals refusals, ref int filled, ref bool isMiss)
    {
        Debug.Assert(plan.MemberCount == 1, "One array serves the whole request.");
        int length = (int)plan.LengthInBytes;
        if (filled == 0 && (plan.IsExact
            ? countedArrays.TryMakeExact(length, ref refusals)
            : countedArrays.TryRent(length, ref refusals, out isMiss)) is CountedArrayGuard guard)
        {
            // An array of exact length is always a new one.
            isMiss |= plan.IsExact;
            allocation.Add(guard);
            filled = plan.MemberCount;
        }
    }

    // Blocks first, segments behind them: once there is a segment, the pool is not asked again.
    private void FillNative(
        in AllocationPlan plan, ref Allocation allocation, ref Refusals refusals, ref int filled, ref bool isMiss)
    {
        if (plan.UsesPool && !allocation.EndsWithMapping && filled < plan.MemberCount)
        {
            isMiss |= TakeBlocks(plan, ref allocation, ref refusals, ref filled) == PoolOutcome.Cold;
        }

        // The container must have room for all segments before the first is taken. Otherwise requests would hold parts that others lack.
        int count = plan.MemberCount;
        bool fits = filled == count || plan.IsContiguous || Commitment.CanTake(context, plan.MissingBytes(filled), ref refusals);
        while (fits && filled < count)
        {
            int members = Math.Min(plan.MembersPerSegment, count - filled);
            long bytes = plan.BytesOfSegment(filled, members);
            if (MappingGuard.TryAllocate(plan.Source, bytes, plan.AlignmentInBytes, context, ref refusals) is not MappingGuard segment)
            {
                return;
            }

            isMiss = true;
            allocation.Add(segment);
            filled += members;
        }
    }

    private PoolOutcome TakeBlocks(in AllocationPlan plan, ref Allocation allocation, ref Refusals refusals, ref int filled)
    {
        Debug.Assert(filled == 0 || !plan.IsContiguous, "A run is taken as a whole.");
        PoolOutcome outcome;
        if (!plan.IsContiguous)
        {
            outcome = pool.TryRentMany(plan.MemberCount - filled, ref allocation, ref refusals, out int rented);
            filled += rented;
        }
        else if (pool.TryRentRun(plan.Blocks, ref refusals, out outcome) is BlockGuard run)
        {
            allocation.Add(run);
            filled = plan.MemberCount;
        }

        if (outcome == PoolOutcome.Full)
        {
            Search();
        }

        return outcome;
    }

    // Before the pool's limit is exceeded: part of the outstanding memory may have been abandoned. If it has grown by the size of the
    // pool since the last search, the next one does not wait for its time.
    private void Search()
    {
        if (Settings.SearchPeriod is not { } period)
        {
            return;
        }

        CollectionRequests collections = Settings.Scheduler.Collections;
        long outstanding = pool.ReadUsage().RentedBytes + context.Counters[UsageFigure.RentedBytes];
        if (collections.Request(period, beforeRefusal: false, isRare: !context.SearchesRegularly)
            || (_growth.IsDue(outstanding, (long)pool.MaximumBlocks * pool.BlockSizeInBytes)
                && collections.Request(OutstandingGrowth.ShortestInterval, beforeRefusal: false)))
        {
            _growth.NoteSearch(outstanding, context.Counters.Abandoned);
        }
    }

    // What is kept of one allocation between two attempts.
    private struct Filling
    {
        public Allocation Allocation;
        public Refusals Refusals;
        public TimeSpan Pause;
        public int Filled;
        public bool HasBegun;
        public bool IsWatched;
        public bool IsMiss;

        /// <summary>Whether the next attempt has to wait for what would block this thread.</summary>
        public bool NeedsLastResort;
    }
}
