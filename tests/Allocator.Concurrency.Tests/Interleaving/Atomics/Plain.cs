using Allocator.Concurrency.Interleaving.Memory;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>
/// What the library's plain reads and writes tell before they happen; the calls are put there after the compilation, by
/// <c>tests/AccessWeaver</c>. They are no steps: they must be ordered by the atomic operations around them, and this looks whether
/// they are. Those that race on purpose, which the project names, are steps.
/// </summary>
internal static class Plain
{
    // Structs of more are noted part by part.
    private const int Part = 8;

    public static void Read(nint address, int size, string site) => Note(address, size, AccessKind.PlainRead, site);

    public static void Write(nint address, int size, string site) => Note(address, size, AccessKind.PlainWrite, site);

    /// <summary>Makes a plain store that races on purpose: it reaches memory at any time, behind later ones too.</summary>
    public static void Store<T>(ref T location, T value, string site)
    {
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            StepSite at = new(site, "", "", "", 0);
            schedule.Store(worker, ref location, value, Step.At(StepKind.Write, ref location, at), isOrdered: false);
        }
        else
        {
            location = value;
        }
    }

    /// <summary>As above, for a load: it learns of nothing that was written before what it reads.</summary>
    public static T Load<T>(ref T location, string site)
    {
        if (Worker.Current is not Worker worker || worker.Schedule is not Schedule schedule)
        {
            return location;
        }

        StepSite at = new(site, "", "", "", 0);
        schedule.Step(worker, Step.At(StepKind.Read, ref location, at), isOrdered: false);
        return schedule.Read(worker, ref location, Gate.AddressOf(ref location));
    }

    private static void Note(nint address, int size, AccessKind kind, string site)
    {
        if (Worker.Current is Worker worker && worker.Schedule is Schedule schedule)
        {
            for (nint part = address; part < address + size; part += Part)
            {
                schedule.AccessPlain(worker, part, kind, site);
            }
        }
    }
}
