using System;
using System.Threading;

namespace Allocator.Diagnostics;

/// <content>What watched memory was found to have suffered.</content>
public static partial class MemoryDiagnostics
{
    private static EventHandler<CorruptionEventArgs>? s_corruptionFound;

    /// <summary>
    /// Raised on the thread pool when watched memory, in <see cref="SafetyMode.Sampled"/> and <see cref="SafetyMode.Guarded"/> mode, is found to have been written to outside a buffer or after its return.
    /// </summary>
    /// <remarks>What a handler throws is swallowed: somebody who listens must not take the process down.</remarks>
    public static event EventHandler<CorruptionEventArgs>? CorruptionFound
    {
        add => Change(value, static (all, one) => all + one);
        remove => Change(value, static (all, one) => all - one);
    }

    /// <summary>Tells the subscribers, on the thread pool.</summary>
    internal static void ReportCorruption(CorruptionEventArgs report)
    {
        if (Volatile.Read(ref s_corruptionFound) is not null)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => Raise((CorruptionEventArgs)state!), report);
        }
    }

    private static void Raise(CorruptionEventArgs report)
    {
        foreach (Delegate handler in Volatile.Read(ref s_corruptionFound)?.GetInvocationList() ?? [])
        {
            try
            {
                ((EventHandler<CorruptionEventArgs>)handler)(null, report);
            }
            catch (Exception)
            {
                // See the remarks of the event.
            }
        }
    }

    private static void Change(
        EventHandler<CorruptionEventArgs>? handler,
        Func<EventHandler<CorruptionEventArgs>?, EventHandler<CorruptionEventArgs>?, EventHandler<CorruptionEventArgs>?> change)
    {
        EventHandler<CorruptionEventArgs>? seen;
        do
        {
            seen = Volatile.Read(ref s_corruptionFound);
        }
        while (Interlocked.CompareExchange(ref s_corruptionFound, change(seen, handler), seen) != seen);
    }
}
