namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>Which thread of a schedule holds which lock, and how often.</summary>
internal sealed class HeldLocks
{
    private readonly Dictionary<object, (Worker Holder, int Depth)> _held = new(ReferenceEqualityComparer.Instance);

    /// <summary>Gives a lock an address. Odd, which no location is.</summary>
    public static nint AddressOf(object target) => ((nint)RuntimeHelpers.GetHashCode(target) << 1) | 1;

    public bool IsHeld(nint address) => _held.Keys.Any(target => AddressOf(target) == address);

    /// <summary>Enters a lock once more, which the thread has. False where it has it not.</summary>
    public bool TryReenter(Worker worker, object target)
    {
        bool isHeld = _held.TryGetValue(target, out (Worker Holder, int Depth) held) && held.Holder == worker;
        if (isHeld)
        {
            _held[target] = (worker, held.Depth + 1);
        }

        return isHeld;
    }

    /// <summary>Leaves a lock that the thread has entered more than once. False where this is the last time.</summary>
    public bool TryLeave(Worker worker, object target)
    {
        int depth = _held[target].Depth;
        if (depth > 1)
        {
            _held[target] = (worker, depth - 1);
        }

        return depth > 1;
    }

    public void Add(Worker worker, object target) => _held[target] = (worker, 1);

    public void Remove(object target) => _held.Remove(target);
}
