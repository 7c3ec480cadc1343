using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator.Concurrency.Scenarios;

/// <summary>An array pool of which one array is held at first, and threads that return it, rent, trim and close.</summary>
internal sealed class ArrayPoolScenario : Scenario
{
    private const int Length = 16;

    private readonly CountedArrayPool _pool;
    private readonly CountedArrayGuard _held;
    private readonly bool _closes;

    public ArrayPoolScenario(params Action<ArrayPoolScenario>[] bodies)
    {
        AllocatorContext context = new(new AllocatorCounters(), new StillClock(), new Quarantine(new StillClock()));
        _pool = new CountedArrayPool(context, 2 * Length, requestCollection: null);
        _held = TryRent()!;
        foreach (Action<ArrayPoolScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this));
            _closes |= body.Method.Name == nameof(Close);
        }
    }

    public static void Return(ArrayPoolScenario run) => run._pool.Return(run._held, mayKeep: true);

    public static void RentAndReturn(ArrayPoolScenario run)
    {
        if (run.TryRent() is CountedArrayGuard array)
        {
            run._pool.Return(array, mayKeep: true);
        }
    }

    public static void Trim(ArrayPoolScenario run) => run._pool.Release(long.MaxValue);

    public static void Close(ArrayPoolScenario run) => run._pool.Close();

    public override void Check()
    {
        Assert.Equal(_pool.HeldBytes, _pool.IdleBytes);
        Assert.InRange(_pool.HeldBytes, 0, _closes ? 0 : 2 * Length);
    }

    private CountedArrayGuard? TryRent()
    {
        Refusals refusals = default;
        return _pool.TryRent(Length, ref refusals, out _);
    }
}
