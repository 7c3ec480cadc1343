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
        : base(context)
    {
        _pool = pool;
        Array = array;
        Record.Zeroed = true;
    }

    public override long CapacityInBytes => Array!.Length;

    protected override bool ReturnsWithoutSystemCall => true;

    // A span keeps its array alive, and an abandoned array goes to the garbage collector, not to the next renter.
    protected override bool NeedsQuarantine => false;

    /// <summary>Rents an idle array of a pool, unobserved; null where there is none, or the account has no room.</summary>
    public static CountedArrayGuard? TryRentIdle(CountedArrayPool pool, BudgetAccount? account, int lengthInBytes, out long generation)
    {
        generation = 0;
        if (pool.TryRentIdle(lengthInBytes, account) is CountedArrayGuard guard)
        {
            long capacity = guard.CapacityInBytes;
            guard.MarkDirty();
            guard.Context.Counters.MappingRented(capacity, isAllocation: true);
            guard.Record.NoteRent(lengthInBytes, capacity, guard.Context.Clock.CoarseMilliseconds);
            generation = guard.Begin();
            guard.Charge(new BudgetPermit(account, capacity));
            return guard;
        }

        return null;
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
}
