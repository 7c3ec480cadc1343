namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>What a thread does next, or has done: one atomic operation, and all that follows it up to the next.</summary>
internal readonly record struct Step(StepKind Kind, nint Address, StepSite Site)
{
    /// <summary>Makes a step on a location.</summary>
    public static unsafe Step At<T>(StepKind kind, ref T location, in StepSite site) =>
        new(kind, (nint)Unsafe.AsPointer(ref location), site);

    /// <summary>Gives whether the order of two steps of different threads may matter.</summary>
    public bool Conflicts(in Step other)
    {
        if (Kind == StepKind.ProcessFence || other.Kind == StepKind.ProcessFence)
        {
            return true;
        }

        if (!Touches(Kind) || !Touches(other.Kind))
        {
            return false;
        }

        return Address == other.Address && (Kind != StepKind.Read || other.Kind != StepKind.Read);
    }

    private static bool Touches(StepKind kind) => kind is not (StepKind.Local or StepKind.Fence or StepKind.Settle);
}
