using System;
using Allocator;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>A pool of 4 MB blocks, whichever slots it has.</summary>
internal abstract class BlockPool : IDisposable
{
    private readonly AllocatorCounters _counters = new();

    /// <summary>Makes a pool of <paramref name="blocks"/> blocks.</summary>
    protected BlockPool(int blocks) => Pool = new UniformUnmanagedMemoryPool(
        new PoolGeometry(PoolGeometry.DefaultBlockSizeInBytes, blocks),
        NativeMemorySource.Create(NativeMemoryKind.Virtual, HugePages.Auto),
        new AllocatorContext(_counters, SystemClock.Instance, new Quarantine(SystemClock.Instance)));

    /// <summary>Gets what its slots are called in tables.</summary>
    public abstract string Name { get; }

    /// <summary>Gets the bytes of all blocks that have memory.</summary>
    public long CommittedBytes => _counters.CommittedBytes;

    /// <summary>Gets the library's pool.</summary>
    protected UniformUnmanagedMemoryPool Pool { get; }

    /// <summary>Rents a block.</summary>
    /// <exception cref="OutOfMemoryException">There is none left: the pool was made too small for what is measured.</exception>
    public abstract BlockGuard Rent();

    /// <summary>Returns a block.</summary>
    public abstract void Return(BlockGuard block);

    /// <summary>Rents and returns so many blocks, one at a time.</summary>
    public abstract void RentAndReturn(int count);

    /// <summary>Rents and returns so many blocks, four at a time.</summary>
    public abstract void RentAndReturnFour(int count);

    /// <summary>Puts what this thread has in slots where everybody finds it. Called before a thread ends.</summary>
    public abstract void EndThread();

    /// <summary>Gives everything back. pre: all threads have ended.</summary>
    public void Dispose() => Pool.Close();

    /// <summary>Rents a block of the free maps, with or without memory.</summary>
    protected BlockGuard RentBehindSlots()
    {
        Refusals refusals = default;
        return Pool.TryRent(ref refusals, out PoolOutcome outcome) ?? throw new OutOfMemoryException($"The pool of {Pool.MaximumBlocks} blocks is {outcome}.");
    }
}
