using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;

namespace Allocator.Diagnostics;

/// <summary>Measures one figure for one instrument: once for each name, or for each name and reason.</summary>
internal sealed class UsageInstrument
{
    private const string NameTag = "allocator.name";
    private const string ReasonTag = "allocator.trim.reason";

    private static readonly string[] s_reasons = ["period", "high_load", "requested", "refusal", "exchange"];

    private static readonly List<Measurement<long>> s_none = [];

    private readonly UsageFigure _figure;
    private readonly bool _isByReason;

    public UsageInstrument(UsageFigure figure)
    {
        _figure = figure;
        _isByReason = figure >= UsageFigure.TrimmedBytes;
        Measure = TryMeasureAll;

        // Runs the type initializer here: one that fails for want of memory, where a listener measures, fails for ever.
        GC.KeepAlive(s_none);
    }

    /// <summary>Gets what the instrument calls.</summary>
    public Func<IEnumerable<Measurement<long>>> Measure { get; }

    // A listener of the runtime's own calls it on a thread of its own.
    private List<Measurement<long>> TryMeasureAll()
    {
        try
        {
            return MeasureAll();
        }
        catch (OutOfMemoryException)
        {
            return s_none;
        }
    }

    private List<Measurement<long>> MeasureAll()
    {
        List<Measurement<long>> measurements = [];
        foreach (NamedFigures named in UsageCollection.Get(_figure))
        {
            if (_isByReason)
            {
                AddReasons(measurements, named);
            }
            else if (IsTold(named))
            {
                measurements.Add(named.Name.Length == 0
                    ? new Measurement<long>(named[_figure])
                    : new Measurement<long>(named[_figure], new KeyValuePair<string, object?>(NameTag, named.Name)));
            }
        }

        return measurements;
    }

    private bool IsTold(NamedFigures named) =>
        _figure is UsageFigure.BudgetUsedBytes or UsageFigure.BudgetLimitBytes ? named.HasBudget : named.IsLive || _figure >= UsageFigure.Rents;

    // What never happened is not told: of five reasons most never occur.
    private void AddReasons(List<Measurement<long>> measurements, NamedFigures named)
    {
        for (int reason = 0; reason < s_reasons.Length; reason++)
        {
            long value = named[_figure + reason];
            if (value > 0)
            {
                KeyValuePair<string, object?> tag = new(ReasonTag, s_reasons[reason]);
                measurements.Add(named.Name.Length == 0
                    ? new Measurement<long>(value, tag)
                    : new Measurement<long>(value, new KeyValuePair<string, object?>(NameTag, named.Name), tag));
            }
        }
    }
}
