using System;
using System.Threading;

namespace Allocator.Diagnostics;

/// <summary>Watches over the memory of all allocators in the process. Thread-safe.</summary>
public static partial class MemoryDiagnostics
{
    private const string LeakDetectionName = "Allocator.LeakDetection";
    private const string LeakDetectionVariable = "ALLOCATOR_LEAK_DETECTION";

    // Often enough to find what leaks again and again; a stack costs about what clearing a megabyte does.
    private const int StackSampleInterval = 100;

    private static readonly ShortLock s_lock = new();
    private static long s_refusedUnmaps;
    private static LeakDetection? s_leakDetection;
    private static int s_openScopes;
    private static int s_rentsSinceStack;

    /// <summary>
    /// Gets or sets how much is found out about leaks. The initial value comes from the AppContext data <c>Allocator.LeakDetection</c>, or
    /// else from the environment variable <c>ALLOCATOR_LEAK_DETECTION</c>, or else is <see cref="LeakDetection.Counters"/>.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is set to an undefined value.</exception>
    /// <exception cref="InvalidOperationException">The AppContext data or the environment variable has an unknown value.</exception>
    public static LeakDetection LeakDetection
    {
        get => s_leakDetection ??= ProcessSwitch.Read(LeakDetectionName, LeakDetectionVariable, LeakDetection.Counters);
        set
        {
            if (value is < LeakDetection.Off or > LeakDetection.AllStacks)
            {
                Throw.OutOfRange(nameof(value), value, "must be a defined level");
            }

            Change(() => s_leakDetection = value);
        }
    }

    /// <summary>
    /// Gets how many allocations of all allocators are outstanding: not disposed, or disposed and still pinned. This counts what is alive;
    /// what leaked is in <see cref="AbandonedAllocations"/>.
    /// </summary>
    /// <remarks>
    /// Reading it walks over all allocators. A buffer of up to 1 MiB that was dropped without <c>Dispose</c> is collected with its array
    /// and stays in this count as long as its allocator lives.
    /// </remarks>
    public static long OutstandingAllocations => UsageRegistry.OutstandingAllocations;

    /// <summary>
    /// Gets how often the operating system refused to take address space back since the process started. The memory behind it has gone all
    /// the same; the addresses are offered again at every trim.
    /// </summary>
    /// <remarks>On Linux this is a sign that the process has as many mappings as <c>vm.max_map_count</c> allows.</remarks>
    public static long RefusedUnmaps => Interlocked.Read(ref s_refusedUnmaps);

    /// <summary>Begins to watch what the calling code, and what it awaits and starts, allocates. Dispose the result to end it.</summary>
    public static AllocationScope BeginScope()
    {
        AllocationScope scope = new();
        Change(static () => s_openScopes++);
        return scope;
    }

    internal static void CountRefusedUnmap() => Interlocked.Increment(ref s_refusedUnmaps);

    internal static void EndScope() => Change(static () => s_openScopes--);

    /// <summary>
    /// Reads the process's settings, once. Called where an allocator is made: a wrong one still reaches the caller there.
    /// </summary>
    internal static void EnsureSettings()
    {
        if (s_leakDetection is null)
        {
            Change(static () => { });
        }
    }

    /// <summary>Returns a trace for an allocation that begins now, where one is wanted.</summary>
    /// <param name="bytes">Its capacity in bytes.</param>
    /// <param name="allocatorName">The allocator's name.</param>
    /// <param name="canLeak">Whether it would be found when abandoned; an array is not.</param>
    /// <param name="isWanted">Whether one is wanted in any case, with its stack.</param>
    internal static AllocationTrace? TryTrace(long bytes, string? allocatorName, bool canLeak, bool isWanted = false)
    {
        AllocationScope? scope = s_openScopes == 0 ? null : AllocationScope.Current;
        bool keepsStack = isWanted || scope is not null || (canLeak && WantsStack());
        AllocatorEventSource log = AllocatorEventSource.Log;
        if (keepsStack || log.WritesRents)
        {
            return new AllocationTrace(bytes, allocatorName, scope, keepsStack);
        }

        // A session may have ended that the source still knew when it was notified of its end: rents would be traced for ever.
        log.FollowSessions();
        return null;
    }

    private static bool WantsStack() => LeakDetection switch
    {
        LeakDetection.Off => false,
        LeakDetection.Counters => HasLeakListeners,
        LeakDetection.SampledStacks => Interlocked.Increment(ref s_rentsSinceStack) % StackSampleInterval == 0,
        _ => true,
    };

    private static void Change(Action change)
    {
        using (s_lock.Enter())
        {
            change();
            bool arrays = s_openScopes > 0;
            TraceSwitch.SetForDiagnostics(
                rents: arrays || LeakDetection > LeakDetection.Counters || (LeakDetection == LeakDetection.Counters && HasLeakListeners),
                arrays: arrays);
        }
    }
}
