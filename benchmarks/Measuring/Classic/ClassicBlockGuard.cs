namespace Measuring.Classic;

/// <summary>Guards one block of a pool.</summary>
public sealed class ClassicBlockGuard(ClassicPool pool, nint block) : ClassicGuard
{
    private readonly ClassicPool _pool = pool;

    public nint Block { get; } = block;

    protected override void Release() => _pool.Return(Block);
}
