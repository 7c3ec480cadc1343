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
        if (Gate.Pass(StepKind.Read, ref writable, site) is not Schedule schedule)
        {
            T found = location;
            System.Threading.Interlocked.MemoryBarrier();
            return found;
        }

        bool isDefault = schedule.IsWeakened(site, out Weakness weakness) && weakness.Kind == WeaknessKind.ReadsDefault;
        T value = isDefault ? default! : schedule.Read(Worker.Current!, in location, Gate.AddressOf(ref writable));
        schedule.Note(value, value);
        return value;
    }

    public static void Write<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new("Write", text, member, file, line);
        if (Gate.Find(site, out Worker? worker) is not Schedule schedule)
        {
            System.Threading.Interlocked.MemoryBarrier();
            location = value;
            return;
        }

        bool isWeakened = schedule.IsWeakened(site, out Weakness weakness);
        if (!isWeakened || weakness.Kind == WeaknessKind.OrdersNothing)
        {
            schedule.Store(worker!, ref location, value, Step.At(StepKind.Write, ref location, site), Gate.IsOrdered(schedule, site));
        }
    }
}
