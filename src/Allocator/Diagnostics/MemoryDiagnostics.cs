namespace Allocator.Diagnostics;

/// <summary>Reports leaks, corruption and counts of all allocators in the process. Thread-safe.</summary>
public static class MemoryDiagnostics
{
    // Often enough to find a repeated leak; a stack costs about as much as clearing a megabyte.
    private const int StackSampleInterval = 100;

    // This many reports may wait for a handler that blocks; each takes some kilobytes.
    private const int MaximumPendingNotices = 1000;

    private static readonly ShortLock s_lock = new(mayAllocate: true);
    private static readonly LeakLedger s_leaks = new();
    private static EventHandler<AbandonedMemoryEventArgs>? s_allocationAbandoned;
    private static EventHandler<CorruptionEventArgs>? s_corruptionFound;
    private static LeakDetection? s_leakDetection;
    private static long s_abandonedAllocations;
    private static long s_refusedUnmaps;
    private static int s_openScopes;
    private static int s_rentsSinceStack;
    private static int s_pendingNotices;

    /// <summary>
    /// Raised on a thread of the library for every allocation that is found unreachable without <c>Dispose</c>: those above 1 MiB, and
    /// smaller ones if a budget or a container limits memory. While there is a subscriber, every such allocation captures its stack, which
    /// costs far more than the allocation itself; <see cref="LeakDetection.SampledStacks"/> makes it one in a hundred.
    /// </summary>
    /// <remarks>
    /// A loop can leak thousands of times: <see cref="AbandonedMemoryEventArgs.IsFirstOrDoubled"/> picks the few to log. The
    /// <c>EventSource</c> named <c>Allocator</c> writes the same reports. If a handler throws, the exception becomes the event
    /// <c>CallbackFailed</c> and never ends the process. If a handler blocks, up to 1,000 reports wait for it; further ones are only
    /// counted and written as events.
    /// </remarks>
    public static event EventHandler<AbandonedMemoryEventArgs>? AllocationAbandoned
    {
        add => Subscribe(() => s_allocationAbandoned += value);
        remove => Change(() => s_allocationAbandoned -= value);
    }

    /// <summary>
    /// Raised on a thread of the library when watched memory, in <see cref="SafetyMode.Sampled"/> and <see cref="SafetyMode.Guarded"/>
    /// mode, is found to have been written to outside a buffer or after its return; and in any mode when native code makes an invalid free
    /// by <see cref="NativeAllocationCallbacks"/>.
    /// </summary>
    /// <remarks>As for <see cref="AllocationAbandoned"/>.</remarks>
    public static event EventHandler<CorruptionEventArgs>? CorruptionFound
    {
        add => Subscribe(() => s_corruptionFound += value);
        remove => Change(() => s_corruptionFound -= value);
    }

    /// <summary>
    /// Gets or sets how closely leaks are examined. The initial value comes from the AppContext data <c>Allocator.LeakDetection</c>, or
    /// else from the environment variable <c>ALLOCATOR_LEAK_DETECTION</c>, or else is <see cref="LeakDetection.Counters"/>.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is set to an undefined value.</exception>
    /// <exception cref="InvalidOperationException">The AppContext data or the environment variable has an unknown value.</exception>
    public static LeakDetection LeakDetection
    {
        get
        {
            EnsureSettings();
            return s_leakDetection!.Value;
        }

        set
        {
            Throw.Unless(value is >= LeakDetection.Off and <= LeakDetection.AllStacks, nameof(value), value, "must be a defined level");
            Change(() => s_leakDetection = value);
        }
    }

    /// <summary>Gets how many allocations of this process were found abandoned, as for <see cref="AllocationAbandoned"/>.</summary>
    public static long AbandonedAllocations => Interlocked.Read(ref s_abandonedAllocations);

    /// <summary>
    /// Gets how many allocations of all allocators are outstanding: not disposed, or disposed and still pinned. This counts live
    /// allocations; <see cref="AbandonedAllocations"/> counts leaks.
    /// </summary>
    /// <remarks>
    /// Reading it walks over all allocators. If memory is not limited, a buffer of up to 1 MiB that was dropped without
    /// <c>Dispose</c> is collected with its array and stays in this count as long as its allocator lives.
    /// </remarks>
    public static long OutstandingAllocations => UsageRegistry.OutstandingAllocations;

    /// <summary>
    /// Gets how often the operating system has refused to take back address space. The memory is released anyway; only the addresses stay
    /// taken.
    /// </summary>
    /// <remarks>On Linux this means that the process has as many mappings as <c>vm.max_map_count</c> allows.</remarks>
    public static long RefusedUnmaps => Interlocked.Read(ref s_refusedUnmaps);

    /// <summary>Watches the allocations of the caller and of code that it awaits or starts, until the result is disposed.</summary>
    public static AllocationScope BeginScope()
    {
        AllocationScope scope = new();
        Change(static () => s_openScopes++);
        return scope;
    }

    /// <summary>Gets all leaks found so far, by the stack of the allocating call, those with the most bytes first.</summary>
    public static IReadOnlyList<LeakReport> GetLeaks() => s_leaks.List();

    internal static void CountRefusedUnmap() => Interlocked.Increment(ref s_refusedUnmaps);

    internal static void EndScope() => Change(static () => s_openScopes--);

    /// <summary>
    /// Reads the settings of the process once. Called when an allocator is created, so that the caller learns of a wrong one.
    /// </summary>
    internal static void EnsureSettings()
    {
        if (s_leakDetection is null)
        {
            LeakDetection level =
                ProcessSwitch.Read("Allocator.LeakDetection", "ALLOCATOR_LEAK_DETECTION", LeakDetection.Counters);
            Change(() => s_leakDetection ??= level);
        }
    }

    /// <summary>
    /// Returns a trace for an allocation that begins now, if one is wanted. <paramref name="isWanted"/>: in any case, with its stack.
    /// <paramref name="canLeak"/>: it would be found if abandoned; an array would not.
    /// </summary>
    internal static AllocationTrace? TryTrace(long bytes, string? allocatorName, bool canLeak, bool isWanted = false)
    {
        AllocationScope? scope = s_openScopes == 0 ? null : AllocationScope.Current;
        bool keepsStack = isWanted || scope is not null || (canLeak && WantsStack());
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (keepsStack || log.WritesRents)
        {
            return new AllocationTrace(bytes, allocatorName, scope, keepsStack);
        }

        // The source may still have known a session when it was notified of its end. Rents would then be traced for ever.
        log.FollowSessions();
        return null;
    }

    /// <summary>
    /// Counts a leak and notifies listeners in the background. Called by finalizers. If it throws, it has counted nothing.
    /// </summary>
    internal static void ReportAbandoned(AbandonedMemoryEventArgs leak)
    {
        if (LeakDetection != LeakDetection.Off)
        {
            Notice notice = new(calls => Notify(leak, calls));
            Interlocked.Increment(ref s_abandonedAllocations);
            BackgroundThread.Shared.Queue(notice);
        }
    }

    internal static void ReportCorruption(CorruptionEventArgs report)
    {
        UserCallbacks.EnsureThreads();
        BackgroundThread.Shared.Queue(new Notice(calls => Notify(report, calls)));
    }

    private static bool WantsStack() => LeakDetection switch
    {
        LeakDetection.Off => false,
        LeakDetection.Counters => s_allocationAbandoned is not null,
        LeakDetection.SampledStacks => Interlocked.Increment(ref s_rentsSinceStack) % StackSampleInterval == 0,
        _ => true,
    };

    private static void Subscribe(Action change)
    {
        // First: a report that finds the handler goes to that thread.
        UserCallbacks.Want();
        Change(change);
    }

    private static void Change(Action change)
    {
        using ShortLock.Section section = s_lock.Enter();
        change();
        bool arrays = s_openScopes > 0;
        LeakDetection least = s_allocationAbandoned is null ? LeakDetection.SampledStacks : LeakDetection.Counters;

        // Not read here: a wrong setting would fail the end of a scope, or a subscription that has been made.
        LeakDetection level = s_leakDetection ?? LeakDetection.Counters;
        Tracing.SetForDiagnostics(rents: arrays || level >= least, arrays: arrays);
    }

    // The parts that take memory come first: if one throws, no listener has been notified.
    private static void Notify(AbandonedMemoryEventArgs leak, bool callsHandlers)
    {
        Delegate[] handlers = HandlersOf(callsHandlers ? Volatile.Read(ref s_allocationAbandoned) : null);
        leak.Place = s_leaks.Add(leak);
        AllocatorEventSource.Log.AllocationAbandoned(
            leak.Bytes, (long)leak.Age.TotalMilliseconds, leak.AllocationStackTrace ?? "", leak.AllocatorName ?? "", leak.Place.Count,
            leak.Place.Bytes);
        Raise(handlers, leak, nameof(AllocationAbandoned));
    }

    private static void Notify(CorruptionEventArgs report, bool callsHandlers)
    {
        Delegate[] handlers = HandlersOf(callsHandlers ? Volatile.Read(ref s_corruptionFound) : null);
        AllocatorEventSource.Log.CorruptionFound(report.Bytes, report.Offset, report.ToString());
        Raise(handlers, report, nameof(CorruptionFound));
    }

    private static Delegate[] HandlersOf(Delegate? handlers) => handlers?.GetInvocationList() ?? [];

    private static void Raise<TEventArgs>(Delegate[] handlers, TEventArgs arguments, string eventName)
    {
        foreach (Delegate handler in handlers)
        {
            try
            {
                UserCallbacks.Begin(eventName);
                ((EventHandler<TEventArgs>)handler)(null, arguments);
            }
            catch (Exception exception)
            {
                AllocatorEventSource.Log.CallbackFailed(eventName, exception);
            }
            finally
            {
                UserCallbacks.End();
            }
        }
    }

    /// <summary>A call that a thread of the library makes.</summary>
    internal sealed class Notice(Action<bool> call) : IBackgroundWork
    {
        private BackgroundState _work;
        private int _pending;

        public ref BackgroundState State => ref _work;

        public void DoWork()
        {
            bool callsUser = s_allocationAbandoned is not null || Volatile.Read(ref s_corruptionFound) is not null;
            bool isShared = BackgroundThread.Shared.IsCurrent;
            if (isShared && callsUser && _pending == 0 && Volatile.Read(ref s_pendingNotices) < MaximumPendingNotices)
            {
                _pending = 1;
                Interlocked.Increment(ref s_pendingNotices);
                UserCallbacks.Thread.Queue(this);
                return;
            }

            // On the shared thread without the user's code; also if there is no other thread any more, which has this call itself.
            call(!isShared);
            Interlocked.Add(ref s_pendingNotices, -Interlocked.Exchange(ref _pending, 0));
        }
    }
}

/// <summary>How much is recorded about memory that was dropped without <c>Dispose</c>. It comes back at every level.</summary>
public enum LeakDetection
{
    /// <summary>Nothing is reported; only <see cref="MemoryAllocatorStatistics.Abandoned"/> counts.</summary>
    Off = 0,

    /// <summary>
    /// Leaks are counted and reported with size and age; with stacks while <see cref="MemoryDiagnostics.AllocationAbandoned"/> has
    /// subscribers. Costs nothing without. The default.
    /// </summary>
    Counters = 1,

    /// <summary>As <see cref="AllStacks"/>, for one allocation in a hundred, at tens of microseconds each: for production.</summary>
    SampledStacks = 2,

    /// <summary>
    /// Every allocation that can leak keeps its stack: not those of up to 1 MiB, if nothing limits the allocator.
    /// </summary>
    AllStacks = 3,
}

/// <summary>Settings without rebuilding: AppContext data (<c>runtimeconfig.json</c>), or else an environment variable.</summary>
internal static class ProcessSwitch
{
    /// <summary>Reads a setting of the running process.</summary>
    /// <exception cref="InvalidOperationException">The setting is no name of the enum, in upper or lower case.</exception>
    public static TValue Read<TValue>(string property, string variable, TValue otherwise)
        where TValue : struct, Enum =>
        Read(property, AppContext.GetData(property), variable, Environment.GetEnvironmentVariable(variable), otherwise);

    public static TValue Read<TValue>(string property, object? data, string variable, string? environment, TValue otherwise)
        where TValue : struct, Enum =>
        Parse<TValue>($"The AppContext data {property}", data?.ToString())
        ?? Parse<TValue>($"The environment variable {variable}", environment)
        ?? otherwise;

    // Enum.TryParse accepts numbers, and lists of names, too.
    private static TValue? Parse<TValue>(string source, string? text)
        where TValue : struct, Enum
    {
        string name = (text ?? string.Empty).Trim();
        return name.Length == 0 ? null
            : Enum.TryParse(name, ignoreCase: true, out TValue value)
                && string.Equals(name, value.ToString(), StringComparison.OrdinalIgnoreCase)
            ? value
            : throw new InvalidOperationException(
                $"{source} is \"{name}\"; it must be one of {string.Join(", ", Enum.GetNames(typeof(TValue)))}.");
    }
}
