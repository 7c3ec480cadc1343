namespace Allocator.Lifetime;

/// <summary>
/// Guards an array that counts toward a limit. It notices if the array is abandoned, and belongs to it from the array's birth until it is
/// dropped.
/// </summary>
internal sealed class CountedArrayGuard : FinalizableGuard
{
    private const long NotLent = -1;

    private readonly CountedArrayPool _pool;
    private long _lentGeneration = NotLent;

    public CountedArrayGuard(CountedArrayPool pool, byte[] array, AllocatorContext context)
        : base(new RentState { Zeroed = true }, context)
    {
        _pool = pool;
        Array = array;
    }

    /// <summary>Gets or sets whether the pool counts it as outstanding. Under the pool's lock.</summary>
    public bool IsOutstanding { get; set; }

    public override long CapacityInBytes => Array!.Length;

    // A span keeps its array alive, and an abandoned array goes to the garbage collector, not to the next renter.
    protected override bool NeedsQuarantine => false;

    /// <summary>Starts an untraced rent of an idle array.</summary>
    public long BeginPlain(int lengthInBytes)
    {
        MarkDirty();
        Record.NoteRent(lengthInBytes, CapacityInBytes, Context.Clock.CoarseMilliseconds);
        return Begin();
    }

    /// <summary>Returns how many rents began since the last call: none, or one.</summary>
    public long TakeRents()
    {
        long rents = Record.Rents;
        Record.Rents = 0;
        return rents;
    }

    /// <summary>Notes a rent that has no owner object: the renter has only the array.</summary>
    public void Lend(long generation) => Volatile.Write(ref _lentGeneration, generation);

    /// <summary>Ends that rent. False if another call did.</summary>
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

    protected override void Return(bool bypassesCache) => _pool.Return(this, mayKeep: !IsFoundUnreachable);

    protected override void OnAbandoned() => _pool.NoteAbandoned(this);
}
