namespace Measuring.Classic;

/// <summary>Guards the blocks of a group.</summary>
public sealed class ClassicGroupGuard : ClassicGuard
{
    private readonly ClassicPool _pool;
    private readonly nint[] _blocks;

    /// <summary>Guards <paramref name="blocks"/>.</summary>
    public ClassicGroupGuard(ClassicPool pool, nint[] blocks)
    {
        _pool = pool;
        _blocks = blocks;
    }

    /// <inheritdoc/>
    protected override void Release() => _pool.Return(_blocks);
}
