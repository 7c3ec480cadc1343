using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The room that is kept for the first in line once it was overtaken too often. It is kept as long as memory comes back or jobs are about
/// to end. What stays, such as a cache, may stay for ever; then as many may pass again, or nothing would run any more. Used under the lock
/// of the queue.
/// </summary>
/// <remarks>
/// Only the first in line has this: if those behind it had it too, small requests would soon wait in a line of large ones.
/// </remarks>
[DebuggerDisplay("overtaken {_overtakes} times, kept: {IsKept}")]
internal sealed class KeptRoom(MemoryBudget budget, Clock clock)
{
    private readonly Patience _patience = new(budget, clock);

    // The number of the request that it is kept for.
    private long _serial;
    private int _overtakes;

    public bool IsKept => _overtakes >= BudgetQueue.MaximumOvertakes;

    /// <summary>Gets whether as many have passed it all the same, because nothing could go on otherwise.</summary>
    public bool IsPassedInSpite => _overtakes >= 2 * BudgetQueue.MaximumOvertakes;

    /// <summary>Keeps it for that request from here on. If it was another's, its overtakes count from zero.</summary>
    public void KeepFor(BudgetRequest first)
    {
        if (first.Serial != _serial)
        {
            (_serial, _overtakes) = (first.Serial, 0);
        }
    }

    /// <summary>Gives it up if it was that request's, whose wait is over.</summary>
    public void End(BudgetRequest request)
    {
        if (request.Serial == _serial)
        {
            GiveUp();
        }
    }

    public void NoteOvertaken() => _overtakes++;

    /// <summary>
    /// Gives it up if it was kept in vain. Called at each pass over the line, also for other budgets, which wait for this one.
    /// </summary>
    public void GiveUpInVain()
    {
        if (_patience.IsOver(_serial, IsKept || budget.HoldsUpOthers))
        {
            GiveUp();
        }
    }

    /// <summary>Gives it up, because nobody waits for room, or because it was kept in vain.</summary>
    public void GiveUp()
    {
        _overtakes = 0;
        budget.LeaveLine();
    }
}

/// <summary>
/// How long room is kept for a request although no memory comes back and no job is about to end. Used under the lock of the queue.
/// </summary>
[DebuggerDisplay("{_milliseconds} ms since {_since}, for {_serial}")]
internal sealed class Patience(MemoryBudget budget, Clock clock)
{
    private const int MostMilliseconds = 5 * 60_000;

    private long _serial;
    private long _milliseconds;

    // Since when room has been kept in vain, and the least that was outstanding in that time.
    private long _since;
    private long _leastOutstanding;

    /// <summary>Returns whether it is over. Called at each pass over the line.</summary>
    /// <param name="serial">The number of the request that room is kept for.</param>
    /// <param name="isKept">Whether others are held up for it.</param>
    public bool IsOver(long serial, bool isKept)
    {
        long now = clock.NowMilliseconds;
        if (serial != _serial)
        {
            (_serial, _milliseconds, _leastOutstanding) = (serial, BudgetQueue.LeastPatienceMilliseconds, long.MaxValue);
        }

        if (!isKept)
        {
            _leastOutstanding = long.MaxValue;
            return false;
        }

        long outstanding = budget.OutstandingBytes;
        _since = outstanding < _leastOutstanding || budget.IsAnyJobYoung() ? now : _since;
        _leastOutstanding = Math.Min(_leastOutstanding, outstanding);
        bool isOver = now - _since >= _milliseconds;

        // What takes long may come back all the same: each time it gets more time.
        (_milliseconds, _since) = isOver ? (Math.Min(2 * _milliseconds, MostMilliseconds), now) : (_milliseconds, _since);
        return isOver;
    }
}
