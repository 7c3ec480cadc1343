using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Tests.Fakes;

/// <summary>A pool without allocator.</summary>
internal sealed class TestPool : IDisposable
{
    private readonly TestSetup _setup = new();

    public TestPool(int blocks) =>
        Pool = new UniformUnmanagedMemoryPool(new PoolGeometry(TestSetup.BlockSize, blocks), _setup.Source, CreateContext(_setup));

    public UniformUnmanagedMemoryPool Pool { get; }

    /// <summary>Gets how many blocks lie in the free map of the only arena.</summary>
    public int FreeCount => Pool.Arenas[0].FreeCount;

    public static AllocatorContext CreateContext(TestSetup setup) => new(new AllocatorCounters(), setup.Clock, setup.Scheduler.Quarantine);

    public BlockGuard Rent()
    {
        Refusals refusals = default;
        return Pool.TryRentRun(1, ref refusals, out _) ?? throw new InvalidOperationException("The pool is empty.");
    }

    public List<(BlockGuard Block, long Generation)> RentAndBegin(int count) =>
        [.. Enumerable.Range(0, count).Select(_ => Rent()).ToArray().Select(static block => (block, block.Begin()))];

    /// <summary>Rents so many blocks and returns them.</summary>
    public void RentAndReturn(int count) => RentAndBegin(count).ForEach(static rent => rent.Block.Dispose(rent.Generation));

    public void Dispose()
    {
        Pool.Close();
        _setup.Dispose();
    }
}
