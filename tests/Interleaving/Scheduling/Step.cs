using System.Runtime.CompilerServices;

namespace Interleaving.Scheduling;

/// <summary>What a thread does next, or has done: one atomic operation, and all that follows it up to the next.</summary>
internal readonly record struct Step(StepKind Kind, nint Address, StepSite Site)
{
    /// <summary>In place of an address: of no location, since those are even, and of no lock.</summary>
    public const nint Joined = -1;

    /// <summary>Makes a step on a location, as its file wants it.</summary>
    public static unsafe Step At<T>(StepKind kind, ref T location, in StepSite site) =>
        Stepping.Of(site.File) == Stepping.Manner.Joined
            ? new Step(kind == StepKind.Read ? StepKind.Write : kind, Joined, site)
            : new Step(kind, (nint)Unsafe.AsPointer(ref location), site);

    /// <summary>Gives whether the order of two steps of different threads may matter.</summary>
    public bool Conflicts(in Step other)
    {
        if (Kind == StepKind.Local || other.Kind == StepKind.Local)
        {
            return false;
        }

        if (Kind == StepKind.Fence || other.Kind == StepKind.Fence)
        {
            // A fence writes what others have in their buffers, to places that are not its own.
            return true;
        }

        return Address == other.Address && (Kind != StepKind.Read || other.Kind != StepKind.Read);
    }
}
