namespace Measuring.Classic;

/// <summary>Guards the blocks of a group.</summary>
public sealed class ClassicGroupGuard(ClassicPool pool, nint[] blocks) : ClassicGuard
{
    private readonly nint[] _blocks = blocks;

    protected override void Release() => pool.Return(_blocks);
}
