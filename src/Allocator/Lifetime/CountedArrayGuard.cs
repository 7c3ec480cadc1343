namespace Allocator.Lifetime;

/// <summary>
/// Guards an array that counts against a budget, which has to know when it is abandoned. Both stay together from the array's birth until
/// it is dropped.
/// </summary>
internal sealed class CountedArrayGuard : FinalizableGuard
{
    private readonly CountedArrayPool _pool;

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

    /// <summary>Gets whether the next renter can have it.</summary>
    public bool IsReusable => !IsFoundUnreachable;

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

    protected override void CleanUp()
    {
        Record.Zeroed = false;
        if (Context.ClearOnReturn)
        {
            ClearUsed(evenIfZeroed: true);
        }
    }
}
