using Allocator.Lifetime;

namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// Arrays that are counted by thread, one of which a thread has rented that ended: threads that rent, and so take its counts over, one
/// that returns the array, and some that add up.
/// </summary>
internal sealed class ThreadCacheScenario : Scenario
{
    private const int Length = 16;

    private readonly ArraySource _source = new(new MemoryAllocatorOptions());
    private readonly List<(ArrayGuard Array, long Generation)> _held = [];
    private readonly int[] _began = [0];
    private (ArrayGuard Array, long Generation)? _rented;

    public ThreadCacheScenario(params Action<ThreadCacheScenario>[] bodies)
    {
        System.Threading.Thread ended = new(() => _rented = Rent());
        ended.Start();
        ended.Join();
        foreach (Action<ThreadCacheScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this));
        }
    }

    public static void Rents(ThreadCacheScenario run)
    {
        Interlocked.Increment(ref run._began[0]);
        run._held.Add(run.Rent());
    }

    /// <summary>Returns what the ended thread has rented, on a thread that has no cache.</summary>
    public static void Returns(ThreadCacheScenario run)
    {
        run._rented!.Value.Array.Dispose(run._rented.Value.Generation);
        run._rented = null;
    }

    public static void AddsUp(ThreadCacheScenario run)
    {
        ArrayCounts sum = run._source.Sum();
        int mostRents = 1 + Volatile.Read(ref run._began[0]);
        Assert.InRange(sum.Rents, 1, mostRents);
        Assert.InRange(sum.Returns, 0, 1);
        Assert.InRange(sum.RentedBytes, Length, mostRents * Length);
        Assert.InRange(sum.ReturnedBytes, sum.Returns * Length, Length);
    }

    public override void Check()
    {
        long rents = 1 + _held.Count;
        _held.ForEach(static rent => rent.Array.Dispose(rent.Generation));
        _rented?.Array.Dispose(_rented.Value.Generation);
        ArrayCounts sum = _source.Sum();
        Assert.Equal((rents, rents), (sum.Rents, sum.Returns));
        Assert.Equal((rents * Length, rents * Length), (sum.RentedBytes, sum.ReturnedBytes));
    }

    public override void Dispose() => _source.Close();

    private (ArrayGuard Array, long Generation) Rent() => (_source.Rent(Length, clean: false, out long generation), generation);
}
