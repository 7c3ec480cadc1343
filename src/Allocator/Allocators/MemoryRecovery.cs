using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Makes room when memory is refused, and throws after enough attempts.</summary>
internal sealed class MemoryRecovery(
    AllocatorSettings settings, IdleMemory idle, UniformUnmanagedMemoryPool pool, AllocatorContext context)
{
    // 1, 2, 4 … 128 ms: a quarter of a second in all. Other threads return buffers within such times, and 32-bit processes need it.
    private const int Retries = 8;

    // Requests of other threads, which fit the budget too, may take the memory that this one has released. That happens more often than
    // the system refuses, but not for ever.
    private const int RetriesWithinBudget = 64;

    // With the pauses between attempts, longer than the wait for finalizers.
    private const int RetriesInContainer = 40;
    private const int PauseInContainerMilliseconds = 5;
    private const int AttemptsBeforeLastResort = 2;

    /// <summary>
    /// Makes room for the next attempt: releases idle memory, requests a collection. If the attempt was for all or nothing, the missing
    /// bytes are 0. The requested bytes are for the message.
    /// </summary>
    /// <returns>How long the caller waits before the next attempt.</returns>
    /// <exception cref="OutOfMemoryException">The system has refused too often.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// The container has no room, or too little idle memory was released; or the request comes from a hook that runs while memory is
    /// returned.
    /// </exception>
    public TimeSpan Recover(ref Refusals refusals, long requestedBytes, long missingBytes)
    {
        if (BlockHooks.IsReleasing)
        {
            throw MemoryLimitExceededException.ForHook(requestedBytes, LimitOf(context.Budget));
        }

        missingBytes = Math.Max(missingBytes, refusals.RefusedBytes);
        int pause = refusals.IsRefusedByContainer ? RecoverInContainer(++refusals.ByContainer, requestedBytes, missingBytes)
            : refusals.RefusedBytes != 0 ? RecoverWithinBudget(++refusals.ByBudget, requestedBytes, missingBytes)
            : RecoverFromSystem(++refusals.BySystem, requestedBytes);

        refusals.BeginAttempt();
        return TimeSpan.FromMilliseconds(pause);
    }

    /// <summary>Returns whether the next <see cref="Recover"/> would block its thread for a collection and a trim of malloc.</summary>
    public bool NeedsLastResort(in Refusals refusals) => refusals.IsRefusedByContainer && refusals.ByContainer >= AttemptsBeforeLastResort
        && !BlockHooks.IsReleasing && settings.Scheduler.Collections.IsLastResortDue;

    /// <summary>Does that on the thread for long work. The next <see cref="Recover"/> then does not block.</summary>
    public Task RunLastResortAsync() =>
        settings.Scheduler.Collections.RunLastResortAsync(settings.SearchPeriod is not null, settings.HeapTrimmer, context.Counters);

    // Without a budget, the container is the limit.
    private static long LimitOf(MemoryBudget budget) => budget.Headroom is { } headroom
        ? Math.Min(budget.LimitInBytes, headroom.Read().LimitBytes - budget.MinimumFreeBytes)
        : budget.LimitInBytes;

    // The container certainly has no room: it would kill the process for this memory. Everything that makes room is tried in the order of
    // its cost. Then the request fails at once, because a job that waits holds memory that others wait for.
    private int RecoverInContainer(int attempt, long requestedBytes, long missingBytes)
    {
        context.Counters.Count(UsageFigure.Retries);
        if (attempt == 1)
        {
            // Releases this allocator's idle memory, but no more of it than needed.
            idle.Release(missingBytes, TrimReason.Refusal);
        }
        else if (attempt == AttemptsBeforeLastResort)
        {
            settings.Scheduler.ReleaseAll();
        }
        else
        {
            bool isWorthAWait = settings.Scheduler.Collections.RunLastResort(
                settings.SearchPeriod is not null, settings.HeapTrimmer, context.Counters);
            settings.Headroom.NoteFreed();
            bool isFirst = attempt == AttemptsBeforeLastResort + 1;
            if (!isFirst && (!isWorthAWait || attempt >= RetriesInContainer))
            {
                Headroom left = settings.Headroom.Read();
                throw MemoryLimitExceededException.ForContainer(requestedBytes, left.LimitBytes, left.CertainBytes);
            }

            return isFirst ? 0 : PauseInContainerMilliseconds;
        }

        return 0;
    }

    private int RecoverFromSystem(int attempt, long requestedBytes)
    {
        if (attempt > Retries)
        {
            throw new OutOfMemoryException(
                Invariant($"The operating system refused {requestedBytes:N0} bytes {attempt} times, although idle memory was released in ")
                    + $"between. Run fewer jobs at once, or set {nameof(MemoryAllocatorOptions)}."
                    + $"{nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)}, so that requests wait.");
        }

        context.Counters.Count(UsageFigure.Retries);
        idle.ReleaseAll(TrimReason.Refusal);
        settings.Scheduler.Collections.Request(settings.SearchPeriod, beforeRefusal: true);
        return 1 << (attempt - 1);
    }

    // Only as much as is missing: idle memory that stays is for others, and released memory must be faulted in again.
    private int RecoverWithinBudget(int attempt, long requestedBytes, long missingBytes)
    {
        // Kept blocks are never released: only memory that other requests are about to return may make room.
        bool keepsBlocks = settings.Options.KeepBlocks;
        if (attempt > (keepsBlocks ? Retries : RetriesWithinBudget))
        {
            long keptBytes = keepsBlocks ? pool.ReadUsage().RetainedBytes : 0;
            throw MemoryLimitExceededException.ForCeiling(requestedBytes, context.Budget.LimitInBytes, attempt, keptBytes);
        }

        long shortage = missingBytes - (context.Budget.LimitInBytes - context.Budget.CommittedBytes);
        if (shortage <= 0)
        {
            // Other threads have released enough since.
            return 0;
        }

        long trimmed = idle.Release(shortage, TrimReason.Refusal);

        // Memory that is neither outstanding nor idle is being returned or trimmed by another thread; back off and let it finish. A
        // request whose released memory others took, again and again, backs off too.
        return (trimmed == 0 && attempt > 1) || attempt > Retries ? 1 << Math.Min(Math.Max(attempt - 2, 0), 4) : 0;
    }
}
