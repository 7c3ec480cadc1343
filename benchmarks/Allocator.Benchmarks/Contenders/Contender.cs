using System;

namespace Allocator.Benchmarks.Contenders;

/// <summary>A way to get and give back blocks of 4 MB, in loops that any number of threads may run at once.</summary>
internal abstract class Contender : IDisposable
{
    /// <summary>How many blocks <see cref="HoldFour"/> has at once.</summary>
    public const int Four = 4;

    /// <summary>The size of what is rented, in bytes.</summary>
    protected const int BlockSizeInBytes = 4 << 20;

    /// <summary>Rents a block and returns it, <paramref name="count"/> times.</summary>
    public abstract void HoldOne(int count);

    /// <summary>Rents four blocks, then returns the four, until <paramref name="count"/> blocks were had: a multiple of four.</summary>
    public abstract void HoldFour(int count);

    /// <inheritdoc/>
    public virtual void Dispose()
    {
    }
}
