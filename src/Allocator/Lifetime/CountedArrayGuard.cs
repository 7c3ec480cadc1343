using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array that counts against a budget, which has to know when it is abandoned. Both stay together from the array's birth until
/// it is dropped.
/// </summary>
internal sealed class CountedArrayGuard : FinalizableGuard
{
    private const long NotLent = -1;

    private readonly CountedArrayPool _pool;
    private long _lentGeneration = NotLent;

    public CountedArrayGuard(CountedArrayPool pool, byte[] array, AllocatorContext context)
        : base(new ArrayRecord(), context)
    {
        _pool = pool;
        Array = array;
    }

    /// <summary>Gets what its pool knows the array by.</summary>
    public ArrayRecord OwnRecord => Unsafe.As<ArrayRecord>(Record);

    public override long CapacityInBytes => Array!.Length;


    // A span keeps its array alive, and an abandoned array goes to the garbage collector, not to the next renter.
    protected override bool NeedsQuarantine => false;

    /// <summary>Rents an idle array of a pool, unobserved; null where there is none, or the account has no room.</summary>
    public static CountedArrayGuard? TryRentIdle(CountedArrayPool pool, BudgetAccount? account, int lengthInBytes, out long generation)
    {
        // No idle array is a reservation's.
        CountedArrayGuard? guard = account is ReservationAccount ? null : pool.TryRentIdle(lengthInBytes, onlyOf: true, account);
        guard ??= TryRentCharged(pool, account, lengthInBytes);
        generation = 0;
        if (guard is not null)
        {
            guard.MarkDirty();
            guard.Record.NoteRent(lengthInBytes, guard.CapacityInBytes, guard.Context.Clock.CoarseMilliseconds);
            generation = guard.Begin();
        }

        return guard;
    }

    /// <summary>Notes a rent whose renter has the array alone.</summary>
    public void Lend(long generation) => Volatile.Write(ref _lentGeneration, generation);

    /// <summary>Ends that rent; false where another call did.</summary>
    public bool TryEndLent(bool clear)
    {
        long generation = Interlocked.Exchange(ref _lentGeneration, NotLent);
        if (generation == NotLent)
        {
            return false;
        }

        if (clear)
        {
            Array.AsSpan().Clear();
        }

        Dispose(generation);
        return true;
    }

    protected override void GiveBack(bool ofLease)
    {
        if (IsPlain && !Context.ClearOnReturn && (Account is null || MayKeepPermit) && (ofLease || !IsFoundUnreachable))
        {
            _pool.TakeBack(this);
        }
        else
        {
            base.GiveBack(ofLease);
        }
    }

    protected override void ReturnMemory(bool ofGroup)
    {
        if (IsFoundUnreachable)
        {
            _pool.Drop(this);
        }
        else
        {
            _pool.TakeBack(this);
        }
    }

    // Charged before it is taken: an array that is neither idle nor charged would be missing to a request that has been admitted.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static CountedArrayGuard? TryRentCharged(CountedArrayPool pool, BudgetAccount? account, int lengthInBytes)
    {
        // For nothing a reservation would be charged beyond what it has, and count that.
        BudgetPermit permit = new(account, CountedArrayPool.CapacityOf(lengthInBytes));
        if (account is null || !pool.HasIdle(lengthInBytes) || !account.TryTake(permit.Bytes, overtakes: false))
        {
            return null;
        }

        CountedArrayGuard? guard = pool.TryRentIdle(lengthInBytes);
        if (guard is null)
        {
            permit.Return();
            return null;
        }

        guard.TakePermit().Return();
        guard.Record.AllocationBytes = permit.Bytes;
        guard.Charge(permit);
        return guard;
    }
}
