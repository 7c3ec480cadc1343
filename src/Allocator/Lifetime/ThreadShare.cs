namespace Allocator.Lifetime;

/// <summary>What one thread keeps for one owner: see <see cref="ThreadShares"/>.</summary>
internal abstract class ThreadShare
{
    // A number and not the owner: what a thread keeps must not keep an allocator alive that its user has dropped.
    private readonly long _owner;

    protected ThreadShare(ThreadShares owner) => _owner = owner.Serial;

    public bool IsOf(long serial) => _owner == serial;
}
