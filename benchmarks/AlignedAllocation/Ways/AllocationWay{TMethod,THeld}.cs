using System;
using Measuring.Memory;

namespace AlignedAllocation.Ways;

/// <summary>A way to allocate, by one method.</summary>
/// <typeparam name="TMethod">The method.</typeparam>
/// <typeparam name="THeld">What the method holds.</typeparam>
internal sealed class AllocationWay<TMethod, THeld> : AllocationWay
    where TMethod : struct, IAllocationMethod<THeld>
{
    private readonly TMethod _method;

    /// <summary>Names the way; see <see cref="AllocationWay"/>.</summary>
    public AllocationWay(string name, TMethod method, Func<int, int> promise)
        : base(name, promise) => _method = method;

    /// <inheritdoc/>
    public override HeldBuffer Hold(int bytes) => new Held(_method, bytes);

    /// <inheritdoc/>
    public override void Sweep(int[] sizes, int passes)
    {
        TMethod method = _method;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                method.Release(method.Allocate(bytes), bytes);
            }
        }
    }

    /// <inheritdoc/>
    public override void SweepTouching(int[] sizes, int passes)
    {
        TMethod method = _method;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                THeld held = method.Allocate(bytes);
                PageTouch.Write(method.GetBytes(held, bytes));
                method.Release(held, bytes);
            }
        }
    }

    private sealed class Held : HeldBuffer
    {
        private readonly TMethod _method;
        private readonly THeld _held;
        private readonly int _bytes;

        public Held(TMethod method, int bytes)
        {
            _method = method;
            _bytes = bytes;
            _held = method.Allocate(bytes);
        }

        public override Span<byte> Bytes => _method.GetBytes(_held, _bytes);

        public override void Dispose() => _method.Release(_held, _bytes);
    }
}
