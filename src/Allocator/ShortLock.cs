#if DEBUG && NET
#define ASSERTING
#endif

namespace Allocator;

/// <summary>
/// A lock for short sections that a return of memory has to enter. Entering never fails and takes no memory, even under contention:
/// <see cref="Thread.Interrupt"/> takes effect after the section, because an exception in the middle of a return would leave counts wrong
/// for ever. Debug builds check that a section makes no call to the system, reads no file and takes no managed memory.
/// </summary>
/// <remarks>
/// A compare-exchange enters and a write leaves. A monitor takes two compare-exchanges, and the first threads that meet in it need
/// memory of the runtime's. A thread that finds the lock taken spins, yields, and then sleeps for a millisecond at a time. Sections
/// take some tens of nanoseconds, so it sleeps only if the system has stopped the other thread in the middle of one.
/// </remarks>
/// <param name="mayCallSystem">
/// Whether its sections may be long. No return of memory enters such a lock, nor does a thread that holds another one.
/// </param>
/// <param name="mayAllocate">Whether its sections may take managed memory: a growing collection, for instance.</param>
internal sealed class ShortLock(bool mayCallSystem = false, bool mayAllocate = false)
{
#if ASSERTING
    private const int MostAllocationsOfTheRuntime = 16;

    [ThreadStatic]
    private static (int Held, int Sections, int Allocations, int Collections, long AllocatedBytes) s_checks;

    // The runtime takes managed memory there for types that it loads.
    private static readonly bool s_isCollectible = typeof(ShortLock).Assembly.IsCollectible;
#endif

    // The managed id of the thread that is in a section; 0 if none is.
    private int _owner;

    // How many sections that thread has entered within its first one.
    private int _depth;

    public bool MayCallSystem { get; } = mayCallSystem;

    public bool MayAllocate { get; } = mayAllocate;

    /// <summary>Called before the system is called, or a file is read.</summary>
    [Conditional("DEBUG")]
    public static void AssertNoneHeld()
    {
#if ASSERTING
        Debug.Assert(s_checks.Held == 0, "No call to the system is made in a short section.");
#endif
    }

    /// <summary>Gets whether the current thread is in a section. For contracts in Debug.</summary>
    public bool IsHeld => Volatile.Read(ref _owner) == Environment.CurrentManagedThreadId;

    /// <summary>Enters the lock, for a <c>using</c> block. A thread that is in a section may enter once more.</summary>
    public Section Enter()
    {
        int thread = Environment.CurrentManagedThreadId;
        bool wasInterrupted = Interlocked.CompareExchange(ref _owner, thread, 0) != 0 && EnterTaken(thread);
        return new Section(this, wasInterrupted, Begin());
    }

    // Returns whether the thread was interrupted meanwhile.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool EnterTaken(int thread)
    {
        // Only this thread writes its own id, so this read is right whatever others do.
        if (Volatile.Read(ref _owner) == thread)
        {
            _depth++;
            return false;
        }

        bool wasInterrupted = false;
        for (SpinWait wait = default; Volatile.Read(ref _owner) != 0 || Interlocked.CompareExchange(ref _owner, thread, 0) != 0;)
        {
            try
            {
                wait.SpinOnce();
            }
            catch (ThreadInterruptedException)
            {
                // The exception has consumed the interrupt. It is raised again after the section.
                wasInterrupted = true;
            }
        }

        return wasInterrupted;
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
            else if (s_checks.Held++ == 0)
            {
                s_checks.Collections = GC.CollectionCount(0);
                s_checks.AllocatedBytes = GC.GetAllocatedBytesForCurrentThread();
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
        bool hasAllocated = --s_checks.Held == 0 && !mayAllocate && !s_isCollectible
            && GC.GetAllocatedBytesForCurrentThread() != s_checks.AllocatedBytes && GC.CollectionCount(0) == s_checks.Collections;
        s_checks.Sections++;
        return hasAllocated && ++s_checks.Allocations > MostAllocationsOfTheRuntime && s_checks.Allocations > s_checks.Sections / 100;
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
            Debug.Assert(held.IsHeld, "A section is left by the thread that entered it.");
            if (held._depth > 0)
            {
                held._depth--;
            }
            else
            {
                Volatile.Write(ref held._owner, 0);
            }

            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt();
            }

            // Behind the exit: if an assertion throws, as in tests, the lock is free.
            Debug.Assert(!hasAllocated, "A short section takes no managed memory.");
        }
    }
}
