using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>Stands in for <see cref="System.Threading.Interlocked"/>: each operation is one step.</summary>
public static class Interlocked
{
    [return: NotNullIfNotNull(nameof(location))]
    public static T CompareExchange<T>(
        ref T location,
        T value,
        T comparand,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new(nameof(CompareExchange), text, member, file, line);
        Schedule? schedule = Gate.Pass(StepKind.Update, ref location, site);
        if (schedule is not null && schedule.IsWeakened(site, out Weakness weakness) && weakness.Passes(location, comparand))
        {
            schedule.HasCompared(hasWritten: true);
            schedule.Note(location, value);
            location = value;
            return comparand;
        }

        T found = System.Threading.Interlocked.CompareExchange(ref location, value, comparand);
        schedule?.HasCompared(EqualityComparer<T>.Default.Equals(found, comparand));
        schedule?.Note(found, location);

        return found;
    }

    public static T Exchange<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new(nameof(Exchange), text, member, file, line);
        Schedule? schedule = Gate.Pass(StepKind.Update, ref location, site);
        if (schedule is not null && schedule.IsWeakened(site, out Weakness weakness) && weakness.Kind != WeaknessKind.OrdersNothing)
        {
            // Only looks.
            schedule.Note(location, location);
            return location;
        }

        T found = System.Threading.Interlocked.Exchange(ref location, value);
        schedule?.Note(found, value);
        return found;
    }

    public static long Read(
        ref readonly long location,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Schedule? schedule = Gate.Pass(StepKind.Read, ref Unsafe.AsRef(in location), new StepSite(nameof(Read), text, member, file, line));
        long value = schedule is null ? System.Threading.Interlocked.Read(in location)
            : schedule.Read(Worker.Current!, in location, Gate.AddressOf(ref Unsafe.AsRef(in location)));
        schedule?.Note(value, value);
        return value;
    }

    public static T Add<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where T : struct, IBinaryInteger<T>
        => Update(
            new StepSite(nameof(Add), text, member, file, line), ref location, value, static (found, value) => found + value).After;

    public static T Increment<T>(
        ref T location,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where T : struct, IBinaryInteger<T>
        => Update(
            new StepSite(nameof(Increment), text, member, file, line), ref location, T.One, static (found, one) => found + one).After;

    public static T Decrement<T>(
        ref T location,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where T : struct, IBinaryInteger<T>
        => Update(
            new StepSite(nameof(Decrement), text, member, file, line), ref location, T.One, static (found, one) => found - one).After;

    public static T Or<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where T : struct, IBinaryInteger<T>
        => Update(
            new StepSite(nameof(Or), text, member, file, line), ref location, value, static (found, value) => found | value).Found;

    public static T And<T>(
        ref T location,
        T value,
        [CallerArgumentExpression(nameof(location))] string text = "", [CallerMemberName] string member = "",
        [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
        where T : struct, IBinaryInteger<T>
        => Update(
            new StepSite(nameof(And), text, member, file, line), ref location, value, static (found, value) => found & value).Found;

    public static void MemoryBarrier(
        [CallerMemberName] string member = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new(nameof(MemoryBarrier), "", member, file, line);
        if (Gate.Find(site, out Worker? worker) is Schedule schedule && Gate.IsOrdered(schedule, site))
        {
            schedule.Fence(worker!, site);
        }
    }

    public static void MemoryBarrierProcessWide(
        [CallerMemberName] string member = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite site = new(nameof(MemoryBarrierProcessWide), "", member, file, line);
        if (Gate.Find(site, out Worker? worker) is Schedule schedule)
        {
            schedule.FenceAll(worker!, site, Gate.IsOrdered(schedule, site));
        }
    }

    private static (T Found, T After) Update<T>(in StepSite site, ref T location, T value, Func<T, T, T> change)
        where T : struct, IBinaryInteger<T>
    {
        Schedule? schedule = Gate.Pass(StepKind.Update, ref location, site);
        if (schedule is not null && schedule.IsWeakened(site, out Weakness weakness) && weakness.Kind != WeaknessKind.OrdersNothing)
        {
            T unchanged = weakness.Apply(schedule, ref location);
            return (unchanged, unchanged);
        }

        T found;
        T after;
        do
        {
            found = location;
            after = change(found, value);
        }
        while (System.Threading.Interlocked.CompareExchange(ref location, after, found) != found);

        schedule?.Note(found, after);
        return (found, after);
    }
}
