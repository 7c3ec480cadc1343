using Allocator.Lifetime;

namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// A guard of nothing, which fails where its memory is returned while it is in use. What it looks at are steps of the schedule.
/// </summary>
internal sealed class CountedGuard : LifetimeGuard
{
    // The renter, and one for each use.
    private int _users;
    private int _returns;

    // What a pool is to a returner and the next renter: it orders what they do.
    private readonly object _pool = new();
    private bool _isBack;

    public CountedGuard()
        : base(new RentState())
    {
    }

    public int Returns => _returns;

    public bool IsOut => Volatile.Read(ref _users) > 0;

    public long Rent(nint address = 1)
    {
        Expect(Interlocked.Increment(ref _users) == 1, "Memory is rented that is in use.");
        Address = address;
        return Begin();
    }

    /// <summary>Says that the memory is read or written, until <see cref="StopUsing"/>.</summary>
    public void Use()
    {
        Expect(Interlocked.Increment(ref _users) > 1, "Memory is used that is not out.");
    }

    public void StopUsing() => Interlocked.Decrement(ref _users);

    /// <summary>Takes what was given back, for the next rent. False where nothing was.</summary>
    public bool TryTake()
    {
        lock (_pool)
        {
            bool wasBack = _isBack;
            _isBack = false;
            return wasBack;
        }
    }

    protected override void EndRent(bool ofLease)
    {
        Expect(Interlocked.Decrement(ref _users) == 0, "Memory was given back twice, or in use.");
        Interlocked.Increment(ref _returns);
        lock (_pool)
        {
            _isBack = true;
        }
    }

    private static void Expect(bool condition, string otherwise)
    {
        if (!condition)
        {
            throw new InvalidOperationException(otherwise);
        }
    }
}
