using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Allocator.Diagnostics;

/// <summary>
/// Knows of all allocators what the metrics tell, by their names, and keeps what ended ones have done: totals of a name never fall. It references no allocator, and keeps none alive. Thread-safe.
/// </summary>
internal static class UsageRegistry
{
    /// <summary>How many names are kept of which there is no allocator any more. A program that makes one up for each allocator must not fill the memory with them.</summary>
    public const int MaximumEndedNames = 1000;

    private static readonly object s_lock = new();

    // Weakly, but until the allocator's finalizer has run: the pool has the user's hooks, and what they are part of may well have the allocator.
    private static readonly ConditionalWeakTable<IUsageSource, NamedUsage> s_live = new();
    private static readonly List<IUsageSource> s_ending = [];
    private static readonly Dictionary<string, NamedUsage> s_names = [];
    private static readonly LinkedList<string> s_endedNames = new();
    private static int s_nextSweep = 16;

    /// <summary>Adds an allocator. Whatever tells of allocators exists from here on.</summary>
    public static void Register(IUsageSource source)
    {
        _ = AllocatorEventSource.Log;
        lock (s_lock)
        {
            string name = NameOf(source);
            if (!s_names.TryGetValue(name, out NamedUsage? named))
            {
                s_names.Add(name, named = new NamedUsage());
            }

            if (named.Ended is LinkedListNode<string> ended)
            {
                s_endedNames.Remove(ended);
                named.Ended = null;
            }

            named.Live++;
            s_live.Add(source, named);
        }

        AllocatorMeter.Ensure();
    }

    /// <summary>Notes that an allocator makes nothing new. It is counted until all its memory is back.</summary>
    public static void End(IUsageSource source)
    {
        lock (s_lock)
        {
            if (source.HasMemory)
            {
                s_ending.Add(source);
                if (s_ending.Count >= s_nextSweep)
                {
                    Sweep();
                }
            }
            else
            {
                Forget(source);
            }
        }
    }

    /// <summary>Reads all allocators once.</summary>
    public static NamedFigures[] Read()
    {
        lock (s_lock)
        {
            Sweep();
            foreach (NamedUsage named in s_names.Values)
            {
                named.Clear();
            }

            foreach ((IUsageSource source, NamedUsage named) in s_live)
            {
                named.Add(source);
            }

            NamedFigures[] all = new NamedFigures[s_names.Count];
            int count = 0;
            foreach ((string name, NamedUsage named) in s_names)
            {
                all[count++] = named.Tell(name);
            }

            return all;
        }
    }

    private static string NameOf(IUsageSource source) => source.Counters.AllocatorName ?? "";

    private static void Sweep()
    {
        s_ending.RemoveAll(static source =>
        {
            if (source.HasMemory)
            {
                return false;
            }

            Forget(source);
            return true;
        });

        // Seldom enough that looking at those which stay costs no more than adding them did.
        s_nextSweep = Math.Max(16, 2 * s_ending.Count);
    }

    private static void Forget(IUsageSource source)
    {
        string name = NameOf(source);
        NamedUsage named = s_names[name];
        s_live.Remove(source);
        if (AllocatorMeter.IsMade)
        {
            // Before that nobody has been told anything that could fall, and reading costs the process's first allocator more than making it.
            named.AddEnded(source);
        }

        if (--named.Live == 0)
        {
            named.Ended = s_endedNames.AddLast(name);
            if (s_endedNames.Count > MaximumEndedNames)
            {
                s_names.Remove(s_endedNames.First!.Value);
                s_endedNames.RemoveFirst();
            }
        }
    }
}
