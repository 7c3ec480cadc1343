using System;
using System.Threading;

namespace Allocator.Lifetime;

/// <summary>
/// The idle arrays of one length in a pool: at most as many as there are cores, the last one returned is rented first. Thread-safe.
/// </summary>
internal sealed class IdleArrays
{
    private readonly ShortLock _lock = new();
    private readonly CountedArrayGuard?[] _idle = new CountedArrayGuard?[Environment.ProcessorCount];
    private int _count;
    private int _leastIdle;

    /// <summary>Gets the least number that was idle at once since <see cref="StartPeriod"/>.</summary>
    public int LeastIdle => Volatile.Read(ref _leastIdle);

    public void StartPeriod()
    {
        using (_lock.Enter())
        {
            _leastIdle = _count;
        }
    }

    public CountedArrayGuard? TryPop()
    {
        using (_lock.Enter())
        {
            if (_count == 0)
            {
                return null;
            }

            CountedArrayGuard? guard = _idle[--_count];
            _idle[_count] = null;
            _leastIdle = Math.Min(_leastIdle, _count);
            return guard;
        }
    }

    public bool TryPush(CountedArrayGuard guard)
    {
        using (_lock.Enter())
        {
            if (_count == _idle.Length)
            {
                return false;
            }

            _idle[_count++] = guard;
            return true;
        }
    }
}
