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
        add => Change(() => s_corruptionFound += value);
        remove => Change(() => s_corruptionFound -= value);
    }

    /// <summary>Tells the listeners, on the thread pool.</summary>
    internal static void ReportCorruption(CorruptionEventArgs report) =>
        ThreadPool.UnsafeQueueUserWorkItem(static state => Tell((CorruptionEventArgs)state!), report);

    private static void Tell(CorruptionEventArgs report)
    {
        AllocatorEventSource.Log.CorruptionFound(report.Bytes, report.Offset, report.ToString());
        Raise(Volatile.Read(ref s_corruptionFound), report);
    }
}
