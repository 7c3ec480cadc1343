using System;
using System.Buffers;
using System.Runtime.CompilerServices;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Rents arrays of <see cref="ArrayPool{T}.Shared"/> for one allocator, and counts them by thread, without interlocked operations: a shared counter would cost as much as the rent.
/// Reading sums over the threads; it is exact while none of them allocates.
/// </summary>
internal sealed class ArrayRenter : IAllocationSource
{
    private readonly ThreadShares _shares = new();
    private readonly bool _clearOnReturn;
    private ArrayCounts _ofEndedThreads;

    public ArrayRenter(bool clearOnReturn) => _clearOnReturn = clearOnReturn;

    public long OutstandingAllocations
    {
        get
        {
            ArrayCounts sum = Sum();
            return sum.Rents - sum.Returns;
        }
    }

    /// <summary>Rents an array of at least that many bytes, and begins the rent.</summary>
    public ArrayGuard Rent(int lengthInBytes, bool clean, out long generation)
    {
        ArrayShare share = OfThisThread();
        byte[] array = ArrayPool<byte>.Shared.Rent(lengthInBytes);
        if (clean)
        {
            array.AsSpan(0, lengthInBytes).Clear();
        }

        ArrayGuard guard = share.TakeGuard() ?? new ArrayGuard(this);
        share.CountRent(array.Length);
        generation = guard.Begin(array, lengthInBytes);
        return guard;
    }

    /// <summary>Takes back what was rented. pre: the rent has ended.</summary>
    public void Return(byte[] array, ArrayGuard guard)
    {
        ArrayPool<byte>.Shared.Return(array, _clearOnReturn);
        ArrayShare share = OfThisThread();
        share.CountReturn(array.Length);
        share.KeepGuard(guard);
    }

    public ArrayCounts Sum()
    {
        lock (_shares.Lock)
        {
            // All returns before any rent: what is rented and returned meanwhile, on two threads, is then seen as out rather than as less than nothing.
            ArrayCounts sum = _ofEndedThreads;
            foreach ((_, ThreadShare share) in _shares.All)
            {
                ((ArrayShare)share).AddReturnsTo(ref sum);
            }

            foreach ((_, ThreadShare share) in _shares.All)
            {
                ((ArrayShare)share).AddRentsTo(ref sum);
            }

            return sum;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ArrayShare OfThisThread() => _shares.Find() as ArrayShare ?? OfThisThreadSlow();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ArrayShare OfThisThreadSlow()
    {
        ArrayShare share = new(_shares);
        _shares.Add(share, ended =>
        {
            ((ArrayShare)ended).AddReturnsTo(ref _ofEndedThreads);
            ((ArrayShare)ended).AddRentsTo(ref _ofEndedThreads);
            return true;
        });
        return share;
    }
}
