using System.Runtime.CompilerServices;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>Stands in for <see cref="System.Threading.Volatile"/>.</summary>
public static class Volatile
{
    public static T Read<T>(
        ref readonly T location,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        ref T writable = ref Unsafe.AsRef(in location);
        StepSite site = new("Read", text, member, file, line);
        Schedule? schedule = Gate.Pass(StepKind.Read, ref writable, site);
        T value = schedule is not null && schedule.IsWeakened(site, out _) ? default! : location;
        System.Threading.Interlocked.MemoryBarrier();
        schedule?.Note(value, value);
        return value;
    }

    public static void Write<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new("Write", text, member, file, line);
        Schedule? schedule = Gate.Pass(StepKind.Write, ref location, site);
        schedule?.Note(location, value);
        System.Threading.Interlocked.MemoryBarrier();
        if (schedule is null || !schedule.IsWeakened(site, out _))
        {
            location = value;
        }
    }
}
