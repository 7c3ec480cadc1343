using System;
using System.Collections.Generic;
using System.Threading;

namespace Allocator.Diagnostics;

/// <content>What listeners are notified of: leaks, and corrupted memory.</content>
public static partial class MemoryDiagnostics
{
    private static readonly LeakLedger s_leaks = new();
    private static long s_abandonedAllocations;
    private static EventHandler<AbandonedMemoryEventArgs>? s_allocationAbandoned;
    private static EventHandler<LeakReport>? s_leakFound;
    private static EventHandler<CorruptionEventArgs>? s_corruptionFound;

    /// <summary>
    /// Raised on the thread pool for every allocation above 1 MiB that is found unreachable without <c>Dispose</c>.
    /// While there is a subscriber, every such allocation captures its stack, which costs far more than the allocation itself;
    /// <see cref="LeakDetection.SampledStacks"/> makes it one in a hundred.
    /// </summary>
    /// <remarks>
    /// What a handler throws is written to the <c>EventSource</c> named <c>Allocator</c>, as <c>CallbackFailed</c>, and goes no further:
    /// it must not take the process down.
    /// </remarks>
    public static event EventHandler<AbandonedMemoryEventArgs>? AllocationAbandoned
    {
        add => Change(() => s_allocationAbandoned += value);
        remove => Change(() => s_allocationAbandoned -= value);
    }

    /// <summary>
    /// Raised on the thread pool when the first leak from a place is found, identified by the stack of the allocating call, and again
    /// whenever the number of leaks from there has doubled.
    /// </summary>
    /// <remarks>As for <see cref="AllocationAbandoned"/>. The same is written to the <c>EventSource</c> named <c>Allocator</c>.</remarks>
    public static event EventHandler<LeakReport>? LeakFound
    {
        add => Change(() => s_leakFound += value);
        remove => Change(() => s_leakFound -= value);
    }

    /// <summary>
    /// Raised on the thread pool when watched memory, in <see cref="SafetyMode.Sampled"/> and <see cref="SafetyMode.Guarded"/> mode, is
    /// found to have been written to outside a buffer or after its return.
    /// </summary>
    /// <remarks>As for <see cref="AllocationAbandoned"/>.</remarks>
    public static event EventHandler<CorruptionEventArgs>? CorruptionFound
    {
        add => Change(() => s_corruptionFound += value);
        remove => Change(() => s_corruptionFound -= value);
    }

    /// <summary>Gets how many allocations above 1 MiB were found unreachable without <c>Dispose</c> since the process started.</summary>
    public static long AbandonedAllocations => Interlocked.Read(ref s_abandonedAllocations);

    /// <summary>Gets all leaks found so far, by the stack of the allocating call, those with the most bytes first.</summary>
    public static IReadOnlyList<LeakReport> GetLeaks() => s_leaks.List();

    /// <summary>
    /// Counts a leak and notifies the listeners, on the thread pool. Called by finalizers. Where it throws nothing is counted.
    /// </summary>
    internal static void ReportAbandoned(AbandonedMemoryEventArgs leak)
    {
        if (LeakDetection != LeakDetection.Off)
        {
            Notice notice = new(leak);
            Interlocked.Increment(ref s_abandonedAllocations);
            Background.Queue(notice);
        }
    }

    /// <summary>Notifies the listeners, on the thread pool.</summary>
    internal static void ReportCorruption(CorruptionEventArgs report) => Background.Queue(new Notice(report));

    private static bool HasLeakListeners => s_allocationAbandoned is not null || s_leakFound is not null;

    // What takes memory comes first: where it throws, no listener has been notified.
    private static void Notify(AbandonedMemoryEventArgs leak)
    {
        Delegate[] handlers = HandlersOf(Volatile.Read(ref s_allocationAbandoned));
        Delegate[] newsHandlers = HandlersOf(Volatile.Read(ref s_leakFound));
        LeakReport report = s_leaks.Add(leak, out bool isNews);
        string stack = leak.AllocationStackTrace ?? "";
        AllocatorEventSource.Log.AllocationAbandoned(
            leak.Bytes, (long)leak.Age.TotalMilliseconds, stack, leak.AllocatorName ?? "");
        Raise(handlers, leak, nameof(AllocationAbandoned));
        if (isNews)
        {
            AllocatorEventSource.Log.LeakFound(report.Count, report.Bytes, stack);
            Raise(newsHandlers, report, nameof(LeakFound));
        }
    }

    // As for leaks.
    private static void Notify(CorruptionEventArgs report)
    {
        Delegate[] handlers = HandlersOf(Volatile.Read(ref s_corruptionFound));
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
                ((EventHandler<TEventArgs>)handler)(null, arguments);
            }
            catch (Exception exception)
            {
                AllocatorEventSource.Log.CallbackFailed(eventName, exception);
            }
        }
    }

    private sealed class Notice : IBackgroundWork
    {
        private readonly EventArgs _arguments;
        private BackgroundState _work;

        public Notice(EventArgs arguments) => _arguments = arguments;

        public ref BackgroundState State => ref _work;

        public void DoWork()
        {
            if (_arguments is AbandonedMemoryEventArgs leak)
            {
                Notify(leak);
            }
            else
            {
                Notify((CorruptionEventArgs)_arguments);
            }
        }
    }
}
