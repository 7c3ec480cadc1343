using System;
using System.Buffers;
using System.Threading;

namespace Allocator.Lifetime;

/// <summary>Rents arrays of <see cref="ArrayPool{T}.Shared"/> that count against a budget. Their guards have finalizers, are made once and kept between rents. Thread-safe.</summary>
internal sealed class CountedArrayRenter
{
    private const int KeptGuards = 64;

    private readonly LifetimePolicy _policy;
    private readonly CountedArrayGuard?[] _kept = new CountedArrayGuard?[KeptGuards];

    public CountedArrayRenter(LifetimePolicy policy) => _policy = policy;

    /// <summary>Gives the most bytes of an array that the pool gives for that length: the next power of two, and at least 16.</summary>
    public static int CapacityOf(int lengthInBytes)
    {
        int capacity = 16;
        while (capacity < lengthInBytes)
        {
            capacity <<= 1;
        }

        return capacity;
    }

    /// <summary>Rents an array of at least that many bytes, above 0 and at most 1 MiB. The rent has not begun.</summary>
    /// <returns>The guard; null where as much is held as may be.</returns>
    public CountedArrayGuard? TryRent(int lengthInBytes)
    {
        int expected = CapacityOf(lengthInBytes);
        if (!_policy.Ceiling.TryHold(expected))
        {
            return null;
        }

        int held = expected;
        try
        {
            CountedArrayGuard guard = TakeGuard() ?? new CountedArrayGuard(this, _policy);
            byte[] array = ArrayPool<byte>.Shared.Rent(lengthInBytes);
            held = 0;
            _policy.Ceiling.Release(expected - array.Length);
            guard.Place(array);
            return guard;
        }
        finally
        {
            _policy.Ceiling.Release(held);
        }
    }

    /// <summary>Takes an array and its guard back. pre: the rent has ended, or never began.</summary>
    /// <param name="guard">The guard.</param>
    /// <param name="array">The array; null where the garbage collector has it.</param>
    public void TakeBack(CountedArrayGuard guard, byte[]? array)
    {
        if (array is not null)
        {
            ArrayPool<byte>.Shared.Return(array, _policy.ClearOnReturn);
            _policy.Ceiling.Release(array.Length);
        }

        int start = FirstPlace();
        for (int i = 0; i < KeptGuards; i++)
        {
            ref CountedArrayGuard? place = ref _kept[(start + i) % KeptGuards];
            if (Volatile.Read(ref place) is null && Interlocked.CompareExchange(ref place, guard, null) is null)
            {
                return;
            }
        }

        GC.SuppressFinalize(guard);
    }

    // A guard whose finalizer is pending comes back by itself when that has run.
    private CountedArrayGuard? TakeGuard()
    {
        int start = FirstPlace();
        for (int i = 0; i < KeptGuards; i++)
        {
            ref CountedArrayGuard? place = ref _kept[(start + i) % KeptGuards];
            if (Volatile.Read(ref place) is not null && Interlocked.Exchange(ref place, null) is CountedArrayGuard guard && guard.TrySettle())
            {
                return guard;
            }
        }

        return null;
    }

    // Threads begin at different places, and get back what they put.
    private static int FirstPlace() => Environment.CurrentManagedThreadId * 8 % KeptGuards;
}
