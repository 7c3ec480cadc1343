namespace Measuring.Classic;

/// <summary>Guards one block of a pool.</summary>
public sealed class ClassicBlockGuard : ClassicGuard
{
    private readonly ClassicPool _pool;

    /// <summary>Guards <paramref name="block"/>.</summary>
    public ClassicBlockGuard(ClassicPool pool, nint block)
    {
        _pool = pool;
        Block = block;
    }

    /// <summary>Gets the block's address.</summary>
    public nint Block { get; }

    /// <inheritdoc/>
    protected override void Release() => _pool.Return(Block);
}
