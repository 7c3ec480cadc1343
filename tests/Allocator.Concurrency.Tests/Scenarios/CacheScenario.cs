using Allocator.Diagnostics;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Blocks in a pool's cache, and threads that want them, return others, or put the cache's into the free map.</summary>
internal sealed class CacheScenario : PoolScenario
{
    private readonly bool _closes;
    private readonly int[] _looks = [0];
    private readonly BlockGuard?[] _held;
    private readonly long[] _generations;

    /// <summary>
    /// Makes a scenario of so many blocks, which lie in the cache but for those that a thread that returns one holds at first.
    /// </summary>
    /// <param name="blocks">How many blocks there are.</param>
    /// <param name="neighbours">Whether each thread begins at a slot of its own; otherwise all begin at the same.</param>
    /// <param name="bodies">What the threads do. The first fills the cache.</param>
    public CacheScenario(int blocks, bool neighbours, params Action<CacheScenario, int>[] bodies)
        : base(blocks)
    {
        _held = new BlockGuard?[bodies.Length];
        _generations = new long[bodies.Length];
        for (int i = 0; i < bodies.Length; i++)
        {
            int index = i;
            Action<CacheScenario, int> body = bodies[i];
            Thread(body.Method.Name, () => body(this, index), () =>
                Prepare(index, index == 0 ? blocks : 0, neighbours ? index : 0, body.Method.Name is nameof(Put) or nameof(PutAndRent)));
            _closes |= body.Method.Name == nameof(Close);
        }
    }

    /// <summary>Takes a block out of the cache, where there is one nearby, and holds it.</summary>
    public static void Take(CacheScenario run, int thread) => run.Hold(thread, run.Pool.TryRentCached());

    /// <summary>As above, and where there is none does what the way through the arenas ends with.</summary>
    public static void TakeOrRelease(CacheScenario run, int thread)
    {
        Take(run, thread);
        if (run._held[thread] is null)
        {
            run.Pool.ReleaseIfClosed();
        }
    }

    /// <summary>Rents a block, of the cache or not, where there is one, and holds it.</summary>
    public static void RentOne(CacheScenario run, int thread) => run.Hold(thread, run.TryRent());

    /// <summary>Returns the block that the thread holds from the beginning.</summary>
    public static void Put(CacheScenario run, int thread) => run.EndHeld(thread);

    /// <summary>As above, and rents one again.</summary>
    public static void PutAndRent(CacheScenario run, int thread)
    {
        Put(run, thread);
        RentOne(run, thread);
    }

    public static void RentAndReturn(CacheScenario run, int thread) => run.RentAndReturn();

    public static void Drain(CacheScenario run, int thread) => run.Pool.DrainCache();

    /// <summary>As a trimmer does, which looks at each block before it is taken: that is a step in the middle.</summary>
    public static void DrainByLooks(CacheScenario run, int thread) => run.Pool.DrainCache(block => Volatile.Read(ref run._looks[0]) == 0);

    public static void TrimAll(CacheScenario run, int thread) => run.Pool.Idle.Release(long.MaxValue);

    public static void Close(CacheScenario run, int thread) => run.Pool.Close();

    public override void Check()
    {
        for (int i = 0; i < _held.Length; i++)
        {
            EndHeld(i);
        }

        if (_closes)
        {
            ExpectNothingLeft();
        }
        else
        {
            ExpectAllIdle();
        }
    }

    private void Prepare(int thread, int blocks, int slot, bool holdsOne)
    {
        BeginAt(slot);
        FillCache(blocks);
        if (holdsOne)
        {
            Hold(thread, TryRent());
        }

        BeginAt(slot);
    }

    private void Hold(int thread, BlockGuard? block)
    {
        if (block is not null)
        {
            _generations[thread] = Begin(block);
            _held[thread] = block;
        }
    }

    private void EndHeld(int thread)
    {
        if (_held[thread] is BlockGuard block)
        {
            _held[thread] = null;
            End(block, _generations[thread]);
        }
    }
}
