namespace Interleaving.Scheduling;

/// <summary>What a thread does next, or has done: one atomic operation, and all that follows it up to the next.</summary>
internal readonly record struct Step(StepKind Kind, nint Address, StepSite Site)
{
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

    /// <summary>Gives whether there is a state in which both could be next. A lock that is held is released before it can be taken.</summary>
    public bool MayBeNextTogetherWith(in Step other) => Kind != StepKind.Release && other.Kind != StepKind.Release;
}
