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
    private readonly string? _allocatorName;

    // Under the lock of the shares.
    private ArrayCounts _ofOthers;

    public ArrayRenter(MemoryAllocatorOptions options)
    {
        _clearOnReturn = options.ClearOnReturn;
        _allocatorName = options.Name;
    }

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

        ArrayGuard guard = share.TakeGuard() ?? new ArrayGuard();
        AllocationTrace? trace = TraceSwitch.Arrays ? MemoryDiagnostics.TryTrace(array.Length, _allocatorName, canLeak: false) : null;
        share.CountRent(array.Length);
        generation = guard.Begin(array, lengthInBytes, this, trace);
        return guard;
    }

    /// <summary>Takes back what was rented. pre: the rent has ended.</summary>
    public void Return(byte[] array, ArrayGuard guard)
    {
        ArrayPool<byte>.Shared.Return(array, _clearOnReturn);
        if (_shares.Find() is ArrayShare share)
        {
            share.CountReturn(array.Length);
            share.KeepGuard(guard);
        }
        else
        {
            CountFirstReturn(array.Length);
        }
    }

    public ArrayCounts Sum()
    {
        lock (_shares.Lock)
        {
            // All returns before any rent: what is rented and returned meanwhile, on two threads, is then seen as out rather than as less than nothing.
            ArrayCounts sum = _ofOthers;
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
    private void CountFirstReturn(int bytes)
    {
        try
        {
            OfThisThreadSlow().CountReturn(bytes);
        }
        catch (OutOfMemoryException)
        {
            // The array is back, and returning must not fail for want of memory.
            lock (_shares.Lock)
            {
                _ofOthers.Returns++;
                _ofOthers.ReturnedBytes += bytes;
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ArrayShare OfThisThreadSlow()
    {
        return (ArrayShare)_shares.FindOrAdd(static shares => new ArrayShare(shares), ended =>
        {
            ((ArrayShare)ended).MoveTo(ref _ofOthers);
            return true;
        });
    }
}
