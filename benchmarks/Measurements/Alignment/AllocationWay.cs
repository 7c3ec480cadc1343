using Measuring.Sources;

namespace Measurements.Alignment;

/// <summary>A way to allocate, with its name and what it promises about addresses.</summary>
/// <param name="name">The name, as tables show it.</param>
/// <param name="promise">The alignment in bytes that a buffer of a number of bytes must have.</param>
internal abstract class AllocationWay(string name, Func<int, int> promise)
{
    public string Name => name;

    public int PromisedAlignment(int bytes) => promise(bytes);

    /// <summary>Allocates one buffer to be looked at.</summary>
    public abstract (Func<Span<byte>> GetBytes, Action Free) Hold(int bytes);

    /// <summary>
    /// Allocates and frees a buffer of each of <paramref name="sizes"/> bytes in turn, <paramref name="passes"/> times over, and writes
    /// to every
    /// page of each where that is asked for.
    /// </summary>
    public abstract void Sweep(int[] sizes, int passes, bool touch);
}

/// <summary>A way to allocate, by one source of memory.</summary>
internal sealed class AllocationWay<TSource, THeld>(string name, TSource source, Func<int, int> promise) : AllocationWay(name, promise)
    where TSource : struct, IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    private readonly TSource _source = source;

    public override (Func<Span<byte>> GetBytes, Action Free) Hold(int bytes)
    {
        THeld held = _source.Allocate(bytes);
        return (() => held.GetBytes(bytes), () => _source.Free(held, bytes));
    }

    public override void Sweep(int[] sizes, int passes, bool touch)
    {
        if (touch)
        {
            SweepTouching(sizes, passes);
            return;
        }

        TSource source = _source;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                source.Free(source.Allocate(bytes), bytes);
            }
        }
    }

    private void SweepTouching(int[] sizes, int passes)
    {
        TSource source = _source;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                THeld held = source.Allocate(bytes);
                PageTouch.Write(held.GetBytes(bytes));
                source.Free(held, bytes);
            }
        }
    }
}
