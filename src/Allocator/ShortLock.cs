#if DEBUG && NET && !EXPLORED
#define ASSERTING
#endif

namespace Allocator;

/// <summary>
/// A lock for short sections that a return of memory has to enter. Entering never fails: <see cref="Thread.Interrupt"/> takes effect after
/// the section, because an exception in the middle of a return would leave counts wrong for ever. A section makes no call to the system,
/// reads no file, calls no users' code and takes no managed memory: debug builds check it.
/// </summary>
internal sealed class ShortLock
{
#if ASSERTING
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static int t_held;

    [ThreadStatic]
    private static long t_allocatedBytes;

    [ThreadStatic]
    private static int t_collections;

    [ThreadStatic]
    private static int t_sections;

    [ThreadStatic]
    private static int t_allocations;

    private const int MostAllocationsOfTheRuntime = 16;

    // There the runtime takes managed memory for types that it loads.
    private static readonly bool s_isCollectible = typeof(ShortLock).Assembly.IsCollectible;
#pragma warning restore IDE1006
#endif

    /// <summary>Makes one.</summary>
    /// <param name="mayCallSystem">
    /// Whether its sections may be long after all. No return of memory enters such a lock, nor does a thread that holds another one.
    /// </param>
    /// <param name="mayAllocate">Whether its sections may take managed memory: a growing collection, for instance.</param>
    public ShortLock(bool mayCallSystem = false, bool mayAllocate = false)
    {
        MayCallSystem = mayCallSystem;
        MayAllocate = mayAllocate;
    }

    public bool MayCallSystem { get; }

    public bool MayAllocate { get; }

    /// <summary>Called where the system is called, or a file is read.</summary>
    [Conditional("DEBUG")]
    public static void AssertNoneHeld()
    {
#if ASSERTING
        Debug.Assert(t_held == 0, "No call to the system is made in a short section.");
#endif
    }

    /// <summary>Gets whether the current thread is in a section. For contracts in Debug.</summary>
    public bool IsHeld => Monitor.IsEntered(this);

    /// <summary>Enters the lock, for a <c>using</c> block. Reentrant, as every monitor.</summary>
    public Section Enter()
    {
        bool wasInterrupted = false;
        bool isHeld = false;
        while (!isHeld)
        {
            try
            {
                Monitor.Enter(this, ref isHeld);
            }
            catch (ThreadInterruptedException)
            {
                // Only a thread that has to wait gets here, and this ends the interrupt: it is made anew behind the section.
                wasInterrupted = true;
            }
            catch (OutOfMemoryException)
            {
                // A monitor that is contended for the first time needs memory on some runtimes.
                Thread.Yield();
            }
        }

        return new Section(this, wasInterrupted, Begin());
    }

    // Returns whether the section is checked.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Begin()
    {
#if ASSERTING
        try
        {
            if (MayCallSystem)
            {
                AssertNoneHeld();
            }
            else if (t_held++ == 0)
            {
                t_collections = GC.CollectionCount(0);
                t_allocatedBytes = GC.GetAllocatedBytesForCurrentThread();
            }

            return !MayCallSystem;
        }
        catch (OutOfMemoryException)
        {
            // A thread's first use of a thread-static needs managed memory.
        }
#endif
        return false;
    }

    // Returns whether sections of this thread have taken managed memory again and again. The runtime itself does at times, when it
    // compiles a method or loads a type; and a collection, in the background too, takes the thread's unused part of the heap.
    private static bool End(bool mayAllocate)
    {
#if ASSERTING
        bool hasAllocated = --t_held == 0 && !mayAllocate && !s_isCollectible
            && GC.GetAllocatedBytesForCurrentThread() != t_allocatedBytes && GC.CollectionCount(0) == t_collections;
        t_sections++;
        return hasAllocated && ++t_allocations > MostAllocationsOfTheRuntime && t_allocations > t_sections / 100;
#else
        return false;
#endif
    }

    /// <summary>A lock that is held until <see cref="Dispose"/>, which is called once.</summary>
    public readonly ref struct Section(ShortLock held, bool wasInterrupted, bool isChecked)
    {
        public void Dispose()
        {
            bool hasAllocated = isChecked && End(held.MayAllocate);
            Monitor.Exit(held);
            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt();
            }

            // Behind the exit: where an assertion throws, as in tests, the lock is free.
            Debug.Assert(!hasAllocated, "A short section takes no managed memory.");
        }
    }
}
