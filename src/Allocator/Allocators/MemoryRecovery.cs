using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Makes room when memory is refused, and throws where that was tried often enough.</summary>
internal sealed class MemoryRecovery(AllocatorSettings settings, IdleMemory idle, AllocatorContext context)
{
    // 1, 2, 4 … 128 ms: a quarter of a second in all. Other threads' buffers come back within such times, and 32-bit processes need it.
    private const int Retries = 8;

    // Other threads' requests, which fit the budget too, may take what this one has released: more often than the system refuses, but
    // not for ever.
    private const int RetriesWithinBudget = 64;

    // With 5 ms between them, longer than finalizers are waited for.
    private const int RetriesInContainer = 40;

    private readonly AllocatorSettings _settings = settings;
    private readonly IdleMemory _idle = idle;
    private readonly AllocatorContext _context = context;

    /// <summary>
    /// Makes room for the next attempt: releases idle memory, requests a collection, waits a little. Blocks the caller. Nothing is missing
    /// where the attempt was for all or nothing; the requested bytes are for the message.
    /// </summary>
    /// <exception cref="OutOfMemoryException">The system has refused too often.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// The container has no room, or not enough idle memory was released; or a hook on memory's way back requests it.
    /// </exception>
    public void Recover(ref Refusals refusals, long requestedBytes, long missingBytes)
    {
        if (BlockHooks.IsReleasing)
        {
            throw MemoryLimitExceededException.ForHook(requestedBytes, _context.Budget.LimitInBytes);
        }

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
            RecoverFromSystem(++refusals.BySystem, requestedBytes);
        }

        refusals.BeginAttempt();
    }

    // The container certainly has no room: the process would be killed for this memory. Everything that makes room is tried in the order
    // of its cost; then the request fails at once, because a job that waits holds what others wait for.
    private void RecoverInContainer(int attempt, long requestedBytes, long missingBytes)
    {
        _context.Counters.CountRetry();
        if (attempt == 1)
        {
            // What this allocator has idle makes room, and no more of it than is needed.
            _idle.Release(missingBytes, TrimReason.Refusal);
        }
        else if (attempt == 2)
        {
            _settings.Scheduler.ReleaseAll();
        }
        else
        {
            bool isWorthAWait = _settings.Scheduler.Collections.RunLastResort(
                _settings.Options.CollectToFindAbandoned, _settings.HeapTrimmer, _context.Counters);
            _settings.Headroom.NoteFreed();
            if (attempt > 3 && (!isWorthAWait || attempt >= RetriesInContainer))
            {
                Headroom left = _settings.Headroom.Read();
                throw MemoryLimitExceededException.ForContainer(requestedBytes, left.LimitBytes, left.CertainBytes);
            }

            if (attempt > 3)
            {
                _settings.Clock.Delay(TimeSpan.FromMilliseconds(5));
            }
        }
    }

    private void RecoverFromSystem(int attempt, long requestedBytes)
    {
        if (attempt > Retries)
        {
            Throw.OutOfMemory(requestedBytes, attempt);
        }

        _context.Counters.CountRetry();
        _idle.ReleaseAll(TrimReason.Refusal);
        _settings.Scheduler.Collections.Request(_settings.SearchPeriod, beforeRefusal: true);
        _settings.Clock.Delay(TimeSpan.FromMilliseconds(1 << (attempt - 1)));
    }

    // As much as is missing, and no more: what stays idle is for others, and what is released has to be faulted in again.
    private void RecoverWithinBudget(int attempt, long requestedBytes, long missingBytes)
    {
        // Kept blocks are never released: only memory that other requests are about to return may make room.
        bool keepsBlocks = _settings.Options.KeepBlocks;
        if (attempt > (keepsBlocks ? Retries : RetriesWithinBudget))
        {
            long keptBytes = keepsBlocks ? _idle.IdleBytes : 0;
            throw MemoryLimitExceededException.ForCeiling(requestedBytes, _context.Budget.LimitInBytes, attempt, keptBytes);
        }

        long shortage = _context.Budget.ShortageOf(missingBytes);
        if (shortage <= 0)
        {
            // Other threads have released enough since.
            return;
        }

        long trimmed = _idle.Release(shortage, TrimReason.Refusal);

        // Memory that is neither outstanding nor idle is being returned or trimmed by another thread: back off and let it finish. So
        // does a request from which others took what it released, again and again.
        if ((trimmed == 0 && attempt > 1) || attempt > Retries)
        {
            _settings.Clock.Delay(TimeSpan.FromMilliseconds(1 << Math.Min(Math.Max(attempt - 2, 0), 4)));
        }
    }
}
