using System;

namespace AlignedAllocation.Ways;

/// <summary>A way to allocate, with its name and what it promises about addresses.</summary>
internal abstract class AllocationWay
{
    private readonly Func<int, int> _promise;

    /// <summary>Names the way; <paramref name="promise"/> gives the alignment in bytes that a buffer of a number of bytes must have.</summary>
    protected AllocationWay(string name, Func<int, int> promise)
    {
        Name = name;
        _promise = promise;
    }

    /// <summary>Gets the name, as tables show it.</summary>
    public string Name { get; }

    /// <summary>Returns the alignment in bytes that every buffer of <paramref name="bytes"/> bytes must have.</summary>
    public int PromisedAlignment(int bytes) => _promise(bytes);

    /// <summary>Allocates one buffer to be looked at.</summary>
    public abstract HeldBuffer Hold(int bytes);

    /// <summary>Allocates and releases a buffer of each of <paramref name="sizes"/> bytes in turn, <paramref name="passes"/> times over.</summary>
    public abstract void Sweep(int[] sizes, int passes);

    /// <summary>Does the same, and writes to every page of each buffer before it is released.</summary>
    public abstract void SweepTouching(int[] sizes, int passes);
}
