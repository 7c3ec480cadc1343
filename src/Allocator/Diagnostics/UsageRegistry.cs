using System;
using System.Collections.Generic;

namespace Allocator.Diagnostics;

/// <summary>
/// Knows all allocators for the process-wide figures and the metrics, by their names, and keeps what ended ones have done: totals of a
/// name never fall. A source references no allocator, so none is kept alive. Thread-safe.
/// </summary>
internal static class UsageRegistry
{
    /// <summary>
    /// How many names are kept of which there is no allocator any more. A program that makes one up for each allocator must not fill the
    /// memory with them.
    /// </summary>
    public const int MaximumEndedNames = 1000;

    private static readonly ShortLock s_lock = new();
    private static readonly LinkedList<IUsageSource> s_all = new();

    // Those of all that make nothing new.
    private static readonly List<LinkedListNode<IUsageSource>> s_ending = [];
    private static readonly Dictionary<string, NamedUsage> s_names = [];
    private static readonly LinkedList<string> s_endedNames = new();

    // Made with the class: the type initializer of a lambda's class may first run without managed memory, and then fails for ever.
    private static readonly Predicate<LinkedListNode<IUsageSource>> s_forgetIfEmpty = ForgetIfEmpty;
    private static int s_nextSweep = 16;

    /// <summary>Gets how many allocations of all allocators are outstanding.</summary>
    public static long OutstandingAllocations
    {
        get
        {
            using (s_lock.Enter())
            {
                long sum = 0;
                foreach (IUsageSource source in s_all)
                {
                    sum += source.Read().OutstandingAllocations;
                }

                return sum;
            }
        }
    }

    /// <summary>Adds an allocator. Whatever reports on allocators exists from here on.</summary>
    /// <returns>What <see cref="End"/> needs. A caller that fails after this calls it.</returns>
    public static LinkedListNode<IUsageSource> Register(IUsageSource source)
    {
        _ = AllocatorEventSource.Log;
        MemoryDiagnostics.EnsureSettings();
        AllocatorMeter.Ensure();
        LinkedListNode<IUsageSource> registration = new(source);
        using (s_lock.Enter())
        {
            string name = NameOf(source);
            if (!s_names.TryGetValue(name, out NamedUsage? named))
            {
                s_names.Add(name, named = new NamedUsage(name));
            }

            if (named.Ended.List is not null)
            {
                s_endedNames.Remove(named.Ended);
            }

            named.Live++;
            s_all.AddLast(registration);
        }

        return registration;
    }

    /// <summary>
    /// Notes that an allocator makes nothing new. It is counted until all its memory is back. A call that failed may be repeated, and a
    /// second one does nothing.
    /// </summary>
    public static void End(LinkedListNode<IUsageSource> registration)
    {
        using (s_lock.Enter())
        {
            if (registration.Value.HasMemory)
            {
                s_ending.Add(registration);
                if (s_ending.Count >= s_nextSweep)
                {
                    Sweep();
                }
            }
            else
            {
                Forget(registration);
            }
        }
    }

    /// <summary>Reads all allocators once.</summary>
    public static NamedFigures[] Read()
    {
        using (s_lock.Enter())
        {
            Sweep();
            foreach (NamedUsage named in s_names.Values)
            {
                named.Clear();
            }

            foreach (IUsageSource source in s_all)
            {
                s_names[NameOf(source)].Add(source);
            }

            NamedFigures[] all = new NamedFigures[s_names.Count];
            int count = 0;
            foreach (KeyValuePair<string, NamedUsage> named in s_names)
            {
                all[count++] = named.Value.Tell(named.Key);
            }

            return all;
        }
    }

    private static string NameOf(IUsageSource source) => source.Counters.AllocatorName ?? "";

    private static void Sweep()
    {
        s_ending.RemoveAll(s_forgetIfEmpty);

        // Seldom enough that looking at those which stay costs no more than adding them did.
        s_nextSweep = Math.Max(16, 2 * s_ending.Count);
    }

    private static bool ForgetIfEmpty(LinkedListNode<IUsageSource> registration)
    {
        bool isEmpty = !registration.Value.HasMemory;
        if (isEmpty)
        {
            Forget(registration);
        }

        return isEmpty;
    }

    // Needs no memory. Does nothing for one that is forgotten: a dropped allocator's finalizer and a Dispose in one of the user's may both
    // end it.
    private static void Forget(LinkedListNode<IUsageSource> registration)
    {
        if (registration.List is null)
        {
            return;
        }

        string name = NameOf(registration.Value);
        NamedUsage named = s_names[name];
        s_all.Remove(registration);
        if (AllocatorMeter.IsMade)
        {
            // Before that no listener has seen anything that could fall, and reading costs the process's first allocator more than making
            // it.
            named.AddEnded(registration.Value);
        }

        if (--named.Live == 0)
        {
            s_endedNames.AddLast(named.Ended);
            if (s_endedNames.Count > MaximumEndedNames)
            {
                s_names.Remove(s_endedNames.First!.Value);
                s_endedNames.RemoveFirst();
            }
        }
    }
}

/// <summary>What the metrics read of one allocator.</summary>
internal interface IUsageSource
{
    AllocatorCounters Counters { get; }

    /// <summary>Gets the memory budget, in bytes; null without one.</summary>
    long? BudgetLimitBytes { get; }

    /// <summary>Gets whether any memory is out, idle or quarantined whose figures still change.</summary>
    bool HasMemory { get; }

    MemoryAllocatorStatistics Read();
}
