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
    private const int MostPatienceMilliseconds = 5 * 60_000;

    // The number of the request that it is kept for.
    private long _serial;
    private int _overtakes;

    // Since when it has been kept although no memory came back, and the least that was outstanding in that time.
    private long _since;
    private long _leastOutstanding;
    private long _patience = BudgetQueue.LeastPatienceMilliseconds;

    public bool IsKept => _overtakes >= BudgetQueue.MaximumOvertakes;

    /// <summary>Keeps it for that request from here on. If it was another's, its overtakes count from zero.</summary>
    public void KeepFor(BudgetRequest first)
    {
        if (first.Serial != _serial)
        {
            _serial = first.Serial;
            _overtakes = 0;
            _patience = BudgetQueue.LeastPatienceMilliseconds;
            budget.LeaveLine();
        }
    }

    public void NoteOvertaken() => _overtakes++;

    /// <summary>
    /// Gives it up if it was kept in vain. Called at each pass over the line, also for other budgets, which wait for this one.
    /// </summary>
    public void GiveUpInVain()
    {
        long now = clock.NowMilliseconds;
        if (!IsKept && !budget.HoldsUpOthers)
        {
            _leastOutstanding = long.MaxValue;
            _since = now;
            return;
        }

        long outstanding = budget.OutstandingBytes;
        _since = outstanding < _leastOutstanding || budget.IsAnyJobYoung() ? now : _since;
        _leastOutstanding = Math.Min(_leastOutstanding, outstanding);
        if (now - _since >= _patience)
        {
            // What takes long may come back all the same: each time it gets more time.
            _patience = Math.Min(2 * _patience, MostPatienceMilliseconds);
            _overtakes = 0;
            budget.LeaveLine();
        }
    }
}
