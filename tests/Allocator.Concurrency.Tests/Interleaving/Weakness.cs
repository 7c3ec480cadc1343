using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving;

/// <summary>
/// A known bug, planted from outside: one atomic operation, at one place in the source, that does less than it should. The code under test
/// stays as it is.
/// </summary>
/// <param name="Member">The type and member, such as <c>Stack.Push</c>.</param>
/// <param name="Operation">The operation there, such as <c>CompareExchange</c>.</param>
/// <param name="Kind">What is wrong with it.</param>
/// <param name="Mask">For <see cref="WeaknessKind.ComparesBits"/>: the bits that are still compared.</param>
public sealed record Weakness(string Member, string Operation, WeaknessKind Kind, long Mask = 0)
{
    internal bool AppliesTo(in StepSite site) => site.Operation == Operation && site.Name == Member;

    // What an addition does.
    internal T Apply<T>(Schedule schedule, ref T location)
        where T : struct
    {
        T after = Kind == WeaknessKind.Resets ? default : location;
        schedule.Note(location, after);
        location = after;
        return after;
    }

    // Whether a compare-exchange writes although it should not, perhaps.
    internal bool Passes<T>(T found, T comparand) =>
        Kind == WeaknessKind.ComparesNothing
        || (Kind == WeaknessKind.ComparesBits && found is long bits && comparand is long wanted && (bits & Mask) == (wanted & Mask));
}
