using System;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>What is done when the system refuses memory, before the caller hears of it.</summary>
internal sealed class MemoryRecovery
{
    // 1, 2, 4 … 128 ms: a quarter of a second in all. Other threads' buffers come back within such times, and 32-bit processes live on this.
    private const int Retries = 8;

    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly AllocatorCounters _counters;
    private readonly Clock _clock;
    private readonly TrimScheduler _scheduler;
    private readonly TimeSpan _period;
    private readonly FencedRenter? _fences;

    public MemoryRecovery(
        UniformUnmanagedMemoryPool pool, AllocatorCounters counters, Clock clock, TrimScheduler scheduler, TimeSpan period, FencedRenter? fences)
    {
        _pool = pool;
        _counters = counters;
        _clock = clock;
        _scheduler = scheduler;
        _period = period;
        _fences = fences;
    }

    /// <summary>Gives idle memory back, asks for abandoned memory to be found, and waits a little. Blocks the caller.</summary>
    /// <param name="attempt">How often the system has refused this request.</param>
    /// <param name="requestedBytes">What is asked for, for the message.</param>
    /// <exception cref="OutOfMemoryException">It has refused too often.</exception>
    public void Recover(int attempt, long requestedBytes)
    {
        if (attempt > Retries)
        {
            Throw.OutOfMemory(requestedBytes, attempt);
        }

        _counters.CountRetry();
        _pool.Reclaimer.TrimAll();
        _fences?.ReleaseAll();
        _scheduler.RequestCollection(_period);
        _clock.Delay(TimeSpan.FromMilliseconds(1 << (attempt - 1)));
    }
}
