using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The memory that was committed within the last second and is still there. Until it is used, no reading of the system contains it. Adding and adding up under the owner's lock; forgetting without one.
/// </summary>
internal sealed class RecentGrants
{
    /// <summary>From then on memory that was not used counts as never going to be: a part of a large buffer often is not.</summary>
    public const int LifetimeMilliseconds = 1000;

    // More than a container of 512 MB has blocks of 4 MiB. The oldest makes room for the newest.
    private const int Capacity = 256;

    private readonly long[] _addresses = new long[Capacity];
    private readonly long[] _bytes = new long[Capacity];
    private readonly long[] _untouched = new long[Capacity];
    private readonly long[] _milliseconds = new long[Capacity];
    private int _next;
    private long _lastMilliseconds = long.MinValue;

    /// <summary>Adds memory that was committed just now.</summary>
    public void Add(nint address, long bytes, long nowMilliseconds)
    {
        int index = _next++ % Capacity;
        _bytes[index] = _untouched[index] = bytes;
        _milliseconds[index] = nowMilliseconds;
        _lastMilliseconds = nowMilliseconds;
        Volatile.Write(ref _addresses[index], address);
    }

    /// <summary>Forgets what is about to go back to the system. Takes no lock.</summary>
    public void Forget(nint address)
    {
        for (int i = 0; i < Capacity; i++)
        {
            if (Volatile.Read(ref _addresses[i]) == address)
            {
                Interlocked.CompareExchange(ref _addresses[i], 0, address);
            }
        }
    }

    /// <summary>Looks which pages have been used since.</summary>
    public void Measure(HeadroomSource source, long nowMilliseconds)
    {
        for (int i = 0; i < Capacity; i++)
        {
            if (IsRecent(i, nowMilliseconds) && _untouched[i] > 0)
            {
                _untouched[i] = source.UntouchedBytes((nint)_addresses[i], _bytes[i]);
            }
        }
    }

    /// <summary>Adds up what was not used at the last look, or since it was committed.</summary>
    public long Sum(long nowMilliseconds)
    {
        long sum = 0;
        for (int i = 0; i < Capacity && nowMilliseconds - _lastMilliseconds < LifetimeMilliseconds; i++)
        {
            sum += IsRecent(i, nowMilliseconds) ? _untouched[i] : 0;
        }

        return sum;
    }

    private bool IsRecent(int index, long nowMilliseconds) =>
        Volatile.Read(ref _addresses[index]) != 0 && nowMilliseconds - _milliseconds[index] < LifetimeMilliseconds;
}
