using System.Numerics;
using System.Threading;
using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>
/// Knows which blocks of an arena have lain idle, by comparing their state words from one look to the next: a generation that has not moved is a block that nobody had.
/// So a rent need not count anything for it.
/// </summary>
internal sealed class IdlenessWatch
{
    private readonly BlockState[] _records;
    private readonly long[] _statesAtLastLook;
    private long _stale;

    // Only those without a rent of their own: what is written at every rent would cost an interlocked operation.
    private BlockBits _used;

    public IdlenessWatch(BlockState[] records)
    {
        _records = records;
        _statesAtLastLook = new long[records.Length];
    }

    /// <summary>Notes that blocks were used that had no rent of their own: behind the first of a run, or made resident.</summary>
    public void MarkUsed(ulong blocks)
    {
        if (((ulong)Volatile.Read(ref _used.Value) & blocks) != blocks)
        {
            Interlocked.Or(ref _used.Value, (long)blocks);
        }
    }

    /// <summary>Finds those of the given blocks that were idle at the last look and have not been used since, and gives their number. pre: one call at a time.</summary>
    public int Look(ulong blocks)
    {
        ulong stale = 0;
        blocks &= ~(ulong)Interlocked.Exchange(ref _used.Value, 0);
        for (int i = 0; i < _records.Length; i++)
        {
            long state = Volatile.Read(ref _records[i].State);
            if (state == _statesAtLastLook[i] && BlockState.IsIdle(state) && (blocks & (1UL << i)) != 0 && !IsInsideRun(i))
            {
                stale |= 1UL << i;
            }

            _statesAtLastLook[i] = state;
        }

        Volatile.Write(ref _stale, (long)stale);
        return BitOperations.PopCount(stale);
    }

    /// <summary>Gives whether a block was idle through the time between the last two looks, and since.</summary>
    public bool IsStale(int index) =>
        (Volatile.Read(ref _stale) & ~Volatile.Read(ref _used.Value) & (1L << index)) != 0 && Volatile.Read(ref _records[index].State) == _statesAtLastLook[index];

    // The blocks of a run behind its first are out too, and only the first one's state says so.
    private bool IsInsideRun(int index)
    {
        for (int first = index - 1; first >= 0; first--)
        {
            if (!BlockState.IsIdle(Volatile.Read(ref _records[first].State)) && _records[first].RunLength > index - first)
            {
                return true;
            }
        }

        return false;
    }
}
