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
    /// <remarks>As for <see cref="AllocationAbandoned"/>.</remarks>
    public static event EventHandler<CorruptionEventArgs>? CorruptionFound
    {
        add => Change(() => s_corruptionFound += value);
        remove => Change(() => s_corruptionFound -= value);
    }

    /// <summary>Tells the listeners, on the thread pool.</summary>
    internal static void ReportCorruption(CorruptionEventArgs report) => Background.Queue(new DiagnosticNotice(report));

    /// <summary>Tells the listeners. As for leaks.</summary>
    internal static void Tell(CorruptionEventArgs report)
    {
        Delegate[] handlers = HandlersOf(Volatile.Read(ref s_corruptionFound));
        AllocatorEventSource.Log.CorruptionFound(report.Bytes, report.Offset, report.ToString());
        Raise(handlers, report, nameof(CorruptionFound));
    }
}
