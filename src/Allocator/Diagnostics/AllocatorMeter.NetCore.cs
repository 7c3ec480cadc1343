using System.Diagnostics.Metrics;
using System.Reflection;
using static Allocator.Diagnostics.UsageFigure;

namespace Allocator.Diagnostics;

/// <summary>The <c>Meter</c> named <c>Allocator</c>. Instruments follow the semantic conventions of OpenTelemetry.</summary>
/// <remarks>
/// It is made when there is an allocator and the process has loaded the assembly of meters and listeners, not before: the first meter of a
/// process costs 10 ms of processor time. Without that assembly there is no listener, and a listener is notified of later instruments too.
/// </remarks>
internal static class AllocatorMeter
{
    private const string Assembly = "System.Diagnostics.DiagnosticSource,";

    private const int None = 0;
    private const int Waiting = 1;
    private const int Wanted = 2;
    private const int Made = 3;
    private const int Closed = 4;

    private static readonly MemoryDiagnostics.Notice s_making = new(static _ => Make());
    private static int s_state;

    // Declared as an object, because the type itself would load the assembly.
    private static IDisposable? s_meter;

    /// <summary>Gets whether a listener may have seen figures of allocators.</summary>
    public static bool IsMade => Volatile.Read(ref s_state) == Made;

    /// <summary>Makes a meter as soon as a listener could exist. Cheap if there is one, or if none is wanted.</summary>
    public static void Ensure()
    {
        if (Volatile.Read(ref s_state) == None && Interlocked.CompareExchange(ref s_state, Waiting, None) == None)
        {
            try
            {
                WaitForListeners();
            }
            catch
            {
                // The next allocator tries again. This comes first, because the other call needs memory.
                Interlocked.CompareExchange(ref s_state, None, Waiting);
                StopWaiting();
                throw;
            }
        }

        if (Volatile.Read(ref s_state) == Wanted)
        {
            UserCallbacks.Thread.Run(s_making);
        }
    }

    /// <summary>Ends the meter for good, or the wait for a reason to create it.</summary>
    public static void Close()
    {
        StopWaiting();
        Interlocked.Exchange(ref s_state, Closed);
        Volatile.Read(ref s_meter)?.Dispose();
    }

    private static void WaitForListeners()
    {
        bool isWanted;
        try
        {
            AppDomain.CurrentDomain.AssemblyLoad += OnAssemblyLoad;

            // Code compiled ahead of time loads no assemblies, and the meter costs little there.
            isWanted = !RuntimeFeature.IsDynamicCodeCompiled || Array.Exists(AppDomain.CurrentDomain.GetAssemblies(), IsOfMeters);
        }
        catch (TypeInitializationException)
        {
            // If a class of the runtime was first used without managed memory, it stays broken. No notification comes, so it is made now.
            isWanted = true;
        }

        if (isWanted)
        {
            // By exchange: meanwhile the assembly may have been loaded, and the meter made.
            Interlocked.CompareExchange(ref s_state, Wanted, Waiting);
        }
    }

    private static void StopWaiting()
    {
        try
        {
            AppDomain.CurrentDomain.AssemblyLoad -= OnAssemblyLoad;
        }
        catch (TypeInitializationException)
        {
            // As above.
        }
    }

    private static bool IsOfMeters(Assembly assembly) => assembly.FullName?.StartsWith(Assembly, StringComparison.Ordinal) == true;

    // On another thread, because the loading thread has the loader's locks. An allocator made meanwhile does it at once.
    private static void OnAssemblyLoad(object? sender, AssemblyLoadEventArgs e)
    {
        if (IsOfMeters(e.LoadedAssembly) && Interlocked.CompareExchange(ref s_state, Wanted, Waiting) == Waiting)
        {
            UserCallbacks.Thread.Ensure();
            UserCallbacks.Thread.Queue(s_making);
        }
    }

    private static void Make()
    {
        if (Interlocked.CompareExchange(ref s_state, Made, Wanted) == Wanted)
        {
            StopWaiting();
            try
            {
                MakeInstruments();
            }
            catch
            {
                // Everything is created again at a retry, or by the next allocator.
                Interlocked.CompareExchange(ref s_state, Wanted, Made);
                throw;
            }

            Interlocked.MemoryBarrier();
            if (Volatile.Read(ref s_state) == Closed)
            {
                s_meter?.Dispose();
            }
        }
    }

    // A method of its own, so that nothing before it loads the assembly.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void MakeInstruments()
    {
        // Ends a meter that was half made. Done here, because code that has just failed without memory may fail to end it too.
        Volatile.Read(ref s_meter)?.Dispose();
        Meter meter = new("Allocator", typeof(AllocatorMeter).Assembly.GetName().Version?.ToString(3));
        Volatile.Write(ref s_meter, meter);

        // In the order of the figures: a collection reads the instruments in this order.
        UpDown(RentedBytes, "allocator.memory.rented", "By", "Capacity of all outstanding memory.");
        UpDown(RetainedBytes, "allocator.memory.retained", "By", "Memory that lies idle in the pool, for the next renter.");
        UpDown(CommittedBytes, "allocator.memory.committed", "By", "Memory that the operating system has given and not taken back.");
        Gauge(PeakCommittedBytes, "allocator.memory.peak_committed", "By", "The most that has been committed at once.");
        UpDown(QuarantinedBytes, "allocator.memory.quarantined", "By", "Memory kept apart: abandoned, or returned and watched.");
        UpDown(Outstanding, "allocator.outstanding_allocations", "{allocation}", "Allocations that are outstanding.");
        UpDown(BudgetUsedBytes, "allocator.budget.usage", "By", "Part of the memory budget that is taken.");
        UpDown(BudgetLimitBytes, "allocator.budget.limit", "By", "The memory budget.");
        Counter(Rents, "allocator.rents", "{rent}", "Allocations made.");
        Counter(PoolHits, "allocator.pool.hits", "{request}", "Requests that idle memory of the pool served in full.");
        Counter(PoolMisses, "allocator.pool.misses", "{request}", "Requests that the operating system had to serve, in full or in part.");
        Counter(Abandoned, "allocator.abandoned_allocations", "{allocation}", "Allocations and reservations found without Dispose.");
        Counter(Retries, "allocator.allocation_retries", "{retry}", "Repeated attempts, after the system or a limit had refused memory.");
        Counter(BudgetWaits, "allocator.budget.waits", "{request}", "Requests that found no room in the memory budget.");
        Counter(NativeHeapTrims, "allocator.native_heap.trims", "{trim}", "Trims of malloc's free memory.");
        Counter(NativeHeapTrimmedBytes, "allocator.native_heap.trimmed", "By", "Resident memory that these trims released.");
        Counter(NativeHeapTrimMilliseconds, "allocator.native_heap.trim_time", "ms", "Time that these trims took.");
        Counter(TrimmedBytes, "allocator.memory.trimmed", "By", "Idle memory given back to the operating system.");
        Counter(Trims, "allocator.trims", "{trim}", "Trims that gave memory back.");
        JobGauge("allocator.job.size", static job => job.AllocatedBytes, "The most that jobs of the name took from the allocator.");
        JobGauge("allocator.job.elsewhere", static job => job.ElsewhereBytes, "The most that they took elsewhere in the container.");
        JobGauge("allocator.job.per_unit", static job => (long)Math.Ceiling(job.BytesPerUnit), "The most for one unit of a job's size.");
        JobUpDown("allocator.job.running", static job => job.Running, "Learned jobs that run.");
        JobUpDown("allocator.job.waiting", static job => job.Waiting, "Learned jobs that wait to begin.");
        JobCounter("allocator.job.ended", static job => job.Ended, "Learned jobs that have ended.");
        JobCounter("allocator.job.refused", static job => job.Refused, "Learned jobs that were refused memory.");

        void JobGauge(string name, Func<MemoryJobStatistics, long> figure, string description) =>
            Publish(() => meter.CreateObservableGauge(name, () => UsageInstrument.MeasureJobs(figure), "By", description));

        void JobUpDown(string name, Func<MemoryJobStatistics, long> figure, string description) =>
            Publish(() => meter.CreateObservableUpDownCounter(name, () => UsageInstrument.MeasureJobs(figure), "{job}", description));

        void JobCounter(string name, Func<MemoryJobStatistics, long> figure, string description) =>
            Publish(() => meter.CreateObservableCounter(name, () => UsageInstrument.MeasureJobs(figure), "{job}", description));

        void UpDown(UsageFigure figure, string name, string unit, string description) =>
            Publish(() => meter.CreateObservableUpDownCounter(name, new UsageInstrument(figure).Measure, unit, description));

        void Gauge(UsageFigure figure, string name, string unit, string description) =>
            Publish(() => meter.CreateObservableGauge(name, new UsageInstrument(figure).Measure, unit, description));

        void Counter(UsageFigure figure, string name, string unit, string description) =>
            Publish(() => meter.CreateObservableCounter(name, new UsageInstrument(figure).Measure, unit, description));
    }

    private static void Publish(Func<Instrument> create)
    {
        try
        {
            create();
        }
        catch (Exception exception) when (exception is not OutOfMemoryException)
        {
            // A listener's exception: it must neither fail the call that makes an allocator nor take the process down.
            AllocatorEventSource.Log.CallbackFailed(nameof(MeterListener), exception);
        }
    }
}

/// <summary>Measures one figure for one instrument: once for each name, or for each name and reason.</summary>
internal sealed class UsageInstrument
{
    private const string NameTag = "allocator.name";
    private const string JobTag = "allocator.job.name";
    private const string ReasonTag = "allocator.trim.reason";

    // Made by the constructor and not by a type initializer, which would fail for ever if it once failed for lack of memory.
    private static string[]? s_reasons;
    private static List<Measurement<long>>? s_none;

    private readonly UsageFigure _figure;
    private readonly bool _isByReason;

    public UsageInstrument(UsageFigure figure)
    {
        s_reasons ??= ["period", "high_load", "requested", "refusal", "exchange"];
        s_none ??= [];
        Debug.Assert(s_reasons.Length == AllocatorCounters.TrimReasons, "Each reason has its word.");
        _figure = figure;
        _isByReason = figure >= UsageFigure.TrimmedBytes;
    }

    /// <summary>The callback of the instrument. Never throws: the runtime's own listeners call it on a thread of theirs.</summary>
    public List<Measurement<long>> Measure()
    {
        try
        {
            return MeasureAll();
        }
        catch (OutOfMemoryException)
        {
            return s_none!;
        }
    }

    /// <summary>
    /// Measures a figure of all learned jobs, once for each name. Never throws. The instruments of other figures have been made before.
    /// </summary>
    public static List<Measurement<long>> MeasureJobs(Func<MemoryJobStatistics, long> figure)
    {
        try
        {
            return [.. UsageRegistry.ReadJobs().Select(job => new Measurement<long>(figure(job.Value), job.Key.Allocator.Length == 0
                ? [new(JobTag, job.Key.Job)]
                : [new(NameTag, job.Key.Allocator), new(JobTag, job.Key.Job)]))];
        }
        catch (OutOfMemoryException)
        {
            return s_none!;
        }
    }

    private List<Measurement<long>> MeasureAll()
    {
        List<Measurement<long>> measurements = [];
        foreach (NamedFigures named in Collection.Get(_figure))
        {
            if (_isByReason)
            {
                // A reason that never occurred is not reported: most of the five never do.
                for (int reason = 0; reason < s_reasons!.Length; reason++)
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
    /// One reading of all allocators, shared by the instruments of one collection, which run one after the other on one thread. So they
    /// agree, and the blocks are read once.
    /// </summary>
    private sealed class Collection
    {
        // The base library does not mark the start of a collection. An instrument that precedes the last one, or comes later than this,
        // belongs to another collection.
        private const int MaximumAgeMilliseconds = 100;

        [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
        private static Collection? t_last;
#pragma warning restore IDE1006

        private readonly NamedFigures[] _figures = UsageRegistry.Read();
        private readonly long _readAt = Stopwatch.GetTimestamp();
        private UsageFigure _lastAsked;

        private bool IsOld => Stopwatch.GetElapsedTime(_readAt).TotalMilliseconds > MaximumAgeMilliseconds;

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
