using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Decisions.Slots;

/// <summary>
/// A model of slots and state words that differs in one thing only: how far apart those of different threads lie. A rent takes a block from a slot and writes
/// its state word; a return moves the state word on and puts the block back: the interlocked operations of the library, on memory that starts on a cache line.
/// </summary>
internal sealed unsafe class SpacedSlots : IDisposable
{
    /// <summary>How many blocks each thread has.</summary>
    public const int PerThread = 4;

    private const int Boundary = 4096;

    private readonly byte* _slots;
    private readonly byte* _states;
    private readonly int _slotDistance;
    private readonly int _stateDistance;

    /// <summary>Lays slots and states out.</summary>
    /// <param name="threads">How many threads use them.</param>
    /// <param name="distanceInBytes">From one thread's slots to the next one's, and from a state word to the next; 0 packs both.</param>
    public SpacedSlots(int threads, int distanceInBytes)
    {
        _slotDistance = Math.Max(distanceInBytes, PerThread * sizeof(long));
        _stateDistance = Math.Max(distanceInBytes, sizeof(long));
        _slots = (byte*)NativeMemory.AlignedAlloc((nuint)(threads * _slotDistance), Boundary);
        _states = (byte*)NativeMemory.AlignedAlloc((nuint)(threads * PerThread * _stateDistance), Boundary);
        NativeMemory.Clear(_states, (nuint)(threads * PerThread * _stateDistance));
        for (int thread = 0; thread < threads; thread++)
        {
            for (int i = 0; i < PerThread; i++)
            {
                // Blocks are numbered from 1, and were handed out to the threads in turn.
                Slot(thread, i) = (i * threads) + thread + 1;
            }
        }
    }

    /// <summary>Rents and returns blocks, one at a time.</summary>
    public void RentAndReturn(int thread, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Return(thread, Rent(thread));
        }
    }

    /// <summary>Rents and returns blocks, four at a time.</summary>
    public void RentAndReturnFour(int thread, int count)
    {
        for (int i = 0; i < count; i += PerThread)
        {
            long first = Rent(thread);
            long second = Rent(thread);
            long third = Rent(thread);
            long fourth = Rent(thread);
            Return(thread, first);
            Return(thread, second);
            Return(thread, third);
            Return(thread, fourth);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        NativeMemory.AlignedFree(_slots);
        NativeMemory.AlignedFree(_states);
    }

    private long Rent(int thread)
    {
        for (int i = 0; i < PerThread; i++)
        {
            ref long slot = ref Slot(thread, i);
            if (Volatile.Read(ref slot) != 0 && Interlocked.Exchange(ref slot, 0) is var block && block != 0)
            {
                ref long state = ref State(block);
                Volatile.Write(ref state, state | 1);
                return block;
            }
        }

        return Missing();
    }

    private void Return(int thread, long block)
    {
        ref long state = ref State(block);
        long seen = Volatile.Read(ref state);
        _ = Interlocked.CompareExchange(ref state, (seen | 1) + 1, seen);
        for (int i = 0; i < PerThread; i++)
        {
            ref long slot = ref Slot(thread, i);
            if (Volatile.Read(ref slot) == 0 && Interlocked.CompareExchange(ref slot, block, 0) == 0)
            {
                return;
            }
        }

        _ = Missing();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref long Slot(int thread, int index) => ref Unsafe.AsRef<long>(_slots + (thread * _slotDistance) + (index * sizeof(long)));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref long State(long block) => ref Unsafe.AsRef<long>(_states + ((block - 1) * _stateDistance));

    private static long Missing() => throw new InvalidOperationException("A thread's own block is missing.");
}
