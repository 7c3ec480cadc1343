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

        // Runs the type initializer here: one that fails for want of memory, where a listener measures, fails for ever.
        GC.KeepAlive(s_none);
    }

    /// <summary>What the instrument calls. Never throws: a listener of the runtime's own calls it on a thread of its own.</summary>
    public List<Measurement<long>> Measure()
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
        foreach (NamedFigures named in Collection.Get(_figure))
        {
            if (_isByReason)
            {
                // What never happened is not reported: of five reasons most never occur.
                for (int reason = 0; reason < s_reasons.Length; reason++)
                {
                    if (named[_figure + reason] is long value and > 0)
                    {
                        Add(named.Name, value, new KeyValuePair<string, object?>(ReasonTag, s_reasons[reason]));
                    }
                }
            }
            else if (IsReported(named))
            {
                Add(named.Name, named[_figure]);
            }
        }

        return measurements;

        void Add(string name, long value, params KeyValuePair<string, object?>[] tags) =>
            measurements.Add(new Measurement<long>(value, name.Length == 0 ? tags : [new(NameTag, name), .. tags]));
    }

    private bool IsReported(NamedFigures named) =>
        _figure is UsageFigure.BudgetUsedBytes or UsageFigure.BudgetLimitBytes ? named[UsageFigure.BudgetLimitBytes] > 0
        : named.IsLive || _figure >= UsageFigure.Rents;

    /// <summary>
    /// One reading of all allocators, shared by the instruments that one collection calls, one after the other on one thread: so that they
    /// agree, and the blocks are walked over once.
    /// </summary>
    private sealed class Collection
    {
        // The base library does not say where a collection begins. An instrument that comes before the last one, or later than this,
        // belongs to another.
        private const int MaximumAgeMilliseconds = 100;

        [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
        private static Collection? t_last;
#pragma warning restore IDE1006

        private readonly NamedFigures[] _figures = UsageRegistry.Read();
        private readonly long _readAt = Stopwatch.GetTimestamp();
        private UsageFigure _lastAsked;

        private bool IsOld => Stopwatch.GetElapsedTime(_readAt).TotalMilliseconds > MaximumAgeMilliseconds;

        /// <summary>Returns a figure of all names.</summary>
        public static NamedFigures[] Get(UsageFigure figure)
        {
            Collection? last = t_last;
            if (last is null || figure <= last._lastAsked || last.IsOld)
            {
                t_last = last = new Collection();
            }

            last._lastAsked = figure;
            return last._figures;
        }
    }
}
