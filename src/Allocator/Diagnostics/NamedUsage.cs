using System;
using System.Collections.Generic;

namespace Allocator.Diagnostics;

/// <summary>The figures of all allocators of one name, those that have ended among them. Of the registry, under its lock.</summary>
internal sealed class NamedUsage
{
    private readonly long[] _now = new long[(int)UsageFigure.Count];
    private readonly long[] _ofEnded = new long[(int)UsageFigure.Count];
    private readonly long[] _told = new long[(int)UsageFigure.Count];
    private bool _hasBudget;

    public NamedUsage(string name) => Ended = new LinkedListNode<string>(name);

    /// <summary>Gets or sets how many allocators of the name have not ended.</summary>
    public int Live { get; set; }

    /// <summary>Gets the name's place among those of which there is no allocator any more; in no list where there is one.</summary>
    public LinkedListNode<string> Ended { get; }

    /// <summary>Begins to add up anew.</summary>
    public void Clear()
    {
        Array.Clear(_now, 0, _now.Length);
        _hasBudget = false;
    }

    /// <summary>Adds what an allocator holds and has done by now.</summary>
    public void Add(IUsageSource source) => Add(source, _now);

    /// <summary>Keeps for good what an ended allocator has done.</summary>
    public void AddEnded(IUsageSource source) => Add(source, _ofEnded);

    /// <summary>
    /// Gives what is to be told: no figure that only grows is ever told lower than before, whatever other threads do while it is read.
    /// </summary>
    public NamedFigures Tell(string name)
    {
        long[] figures = new long[_now.Length];
        for (int i = 0; i < figures.Length; i++)
        {
            figures[i] = _now[i];
            if (i >= (int)UsageFigure.Rents)
            {
                figures[i] = _told[i] = Math.Max(_told[i], _now[i] + _ofEnded[i]);
            }
        }

        return new NamedFigures(name, figures, _hasBudget, Live > 0);
    }

    private void Add(IUsageSource source, long[] figures)
    {
        MemoryAllocatorStatistics usage = source.Read();
        Add(figures, UsageFigure.RentedBytes, usage.RentedBytes);
        Add(figures, UsageFigure.RetainedBytes, usage.RetainedBytes);
        Add(figures, UsageFigure.CommittedBytes, usage.CommittedBytes);
        Add(figures, UsageFigure.PeakCommittedBytes, usage.PeakCommittedBytes);
        Add(figures, UsageFigure.QuarantinedBytes, usage.QuarantinedBytes);
        Add(figures, UsageFigure.Outstanding, usage.OutstandingAllocations);
        Add(figures, UsageFigure.BudgetUsedBytes, usage.BudgetUsedBytes);
        Add(figures, UsageFigure.BudgetLimitBytes, source.BudgetLimitBytes ?? 0);
        Add(figures, UsageFigure.Rents, usage.Rents);
        Add(figures, UsageFigure.PoolHits, usage.PoolHits);
        Add(figures, UsageFigure.PoolMisses, usage.PoolMisses);
        Add(figures, UsageFigure.Abandoned, usage.Abandoned);
        Add(figures, UsageFigure.Retries, usage.AllocationRetries);
        Add(figures, UsageFigure.BudgetWaits, usage.BudgetWaits);
        Add(figures, UsageFigure.NativeHeapTrims, usage.NativeHeapTrims);
        Add(figures, UsageFigure.NativeHeapTrimmedBytes, usage.NativeHeapTrimmedBytes);
        Add(figures, UsageFigure.NativeHeapTrimMilliseconds, (long)usage.NativeHeapTrimTime.TotalMilliseconds);
        for (int reason = 0; reason < AllocatorCounters.TrimReasons; reason++)
        {
            Add(figures, UsageFigure.TrimmedBytes + reason, source.Counters.TrimmedBytesFor((TrimReason)reason));
            Add(figures, UsageFigure.Trims + reason, source.Counters.TrimsFor((TrimReason)reason));
        }

        _hasBudget |= source.BudgetLimitBytes is not null;
    }

    private static void Add(long[] figures, UsageFigure figure, long value) => figures[(int)figure] += value;
}

/// <summary>What one collection reads of all allocators of one name.</summary>
/// <param name="Name">The name; empty for those without.</param>
/// <param name="Values">By <see cref="UsageFigure"/>.</param>
/// <param name="HasBudget">Whether any of them has a memory budget.</param>
/// <param name="IsLive">Whether there is any; otherwise only the totals of ended ones are told.</param>
internal sealed record NamedFigures(string Name, long[] Values, bool HasBudget, bool IsLive)
{
    public long this[UsageFigure figure] => Values[(int)figure];
}
