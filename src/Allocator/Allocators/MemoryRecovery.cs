using System;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Guarding;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>What is done when memory is refused, before the caller hears of it.</summary>
internal sealed class MemoryRecovery
{
    // 1, 2, 4 … 128 ms: a quarter of a second in all. Other threads' buffers come back within such times, and 32-bit processes live on this.
    private const int Retries = 8;

    // Below the ceiling other threads' requests, which fit too, may be faster than this one to what it has freed: more often than the system refuses, but not for ever.
    private const int RetriesWithinBudget = 64;

    // With 5 ms between them, longer than finalizers are waited for.
    private const int RetriesInContainer = 40;

    private readonly AllocatorSettings _settings;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly CountedArrayPool _arrays;
    private readonly AllocatorContext _policy;
    private readonly GuardedSource? _fences;

    public MemoryRecovery(
        AllocatorSettings settings, UniformUnmanagedMemoryPool pool, CountedArrayPool arrays, AllocatorContext policy, GuardedSource? fences)
    {
        _settings = settings;
        _pool = pool;
        _arrays = arrays;
        _policy = policy;
        _fences = fences;
    }

    /// <summary>Gives idle memory back, asks for abandoned memory to be found, and waits a little. Blocks the caller.</summary>
    /// <param name="refusals">How often this request has been refused: made anew for each request.</param>
    /// <param name="requestedBytes">What is asked for, for the message.</param>
    /// <param name="missingBytes">What of it there is no memory for yet; 0 where the attempt was for all of it or nothing.</param>
    /// <exception cref="OutOfMemoryException">The system has refused too often.</exception>
    /// <exception cref="MemoryLimitExceededException">What the budget had room for was not to be had.</exception>
    public void Recover(ref Refusals refusals, long requestedBytes, long missingBytes)
    {
        missingBytes = Math.Max(missingBytes, refusals.RefusedBytes);
        if (refusals.IsRefusedByContainer)
        {
            RecoverInContainer(++refusals.ByContainer, requestedBytes, missingBytes);
        }
        else if (refusals.RefusedBytes != 0)
        {
            RecoverWithinBudget(++refusals.ByBudget, requestedBytes, missingBytes);
        }
        else
        {
            RecoverFromRefusal(++refusals.BySystem, requestedBytes);
        }
    }

    // The container certainly has no room. The alternative to a refusal is death, so what it takes is tried in the order of what it costs, and then the caller is told at once: a job that waits holds what others wait for.
    private void RecoverInContainer(int attempt, long requestedBytes, long missingBytes)
    {
        _policy.Counters.CountRetry();
        if (attempt == 1)
        {
            // What this allocator has idle makes room, and no more of it than is needed.
            TrimSome(missingBytes);
        }
        else if (attempt == 2)
        {
            _settings.Scheduler.TrimAll();
        }
        else
        {
            bool isWorthAWait = _settings.Scheduler.LastResort.Run(_settings.Options.CollectToFindAbandoned, _settings.HeapTrimmer, _policy.Counters);
            _settings.Headroom.NoteFreed();
            if (attempt > 3)
            {
                WaitOrRefuse(isWorthAWait && attempt < RetriesInContainer, requestedBytes);
            }
        }
    }

    private void WaitOrRefuse(bool waits, long requestedBytes)
    {
        if (!waits)
        {
            Headroom left = _settings.Headroom.Read();
            throw MemoryLimitExceededException.ForContainer(requestedBytes, left.LimitBytes, left.CertainBytes);
        }

        _settings.Clock.Delay(TimeSpan.FromMilliseconds(5));
    }

    private void RecoverFromRefusal(int attempt, long requestedBytes)
    {
        if (attempt > Retries)
        {
            Throw.OutOfMemory(requestedBytes, attempt);
        }

        _policy.Counters.CountRetry();
        _pool.Reclaimer.TrimAll(TrimReason.Refusal);
        _arrays.Trim(long.MaxValue, TrimReason.Refusal);
        _fences?.ReleaseAll();
        _settings.RequestCollection(beforeRefusal: true);
        _settings.Clock.Delay(TimeSpan.FromMilliseconds(1 << (attempt - 1)));
    }

    // As much as is missing, and no more: what stays idle is for others, and what is given back is faulted in again.
    private void RecoverWithinBudget(int attempt, long requestedBytes, long missingBytes)
    {
        // Blocks that are kept stay where they are, however long somebody waits: only what other requests have in hand may yet come back.
        if (attempt > (_pool.KeepsBlocks ? Retries : RetriesWithinBudget))
        {
            throw MemoryLimitExceededException.ForCeiling(requestedBytes, _settings.MemoryBudgetInBytes!.Value, attempt, keptBytes: _pool.KeepsBlocks ? _pool.ReadUsage().RetainedBytes : 0);
        }

        long shortage = _policy.Budget.ShortageOf(missingBytes);
        if (shortage <= 0)
        {
            // Others have given something back since.
            return;
        }

        long trimmed = TrimSome(shortage);

        // What nobody has out and nobody finds idle is in somebody's hand, on its way back. And who was outrun often lets the others finish.
        if ((trimmed == 0 && attempt > 1) || attempt > Retries)
        {
            _settings.Clock.Delay(TimeSpan.FromMilliseconds(1 << Math.Min(Math.Max(attempt - 2, 0), 4)));
        }
    }

    private long TrimSome(long bytes)
    {
        long trimmed = _pool.Reclaimer.TrimSome(bytes);
        if (trimmed < bytes)
        {
            trimmed += _arrays.Trim(bytes - trimmed, TrimReason.Refusal);
        }

        if (trimmed < bytes)
        {
            _fences?.ReleaseAll();
        }

        return trimmed;
    }
}
