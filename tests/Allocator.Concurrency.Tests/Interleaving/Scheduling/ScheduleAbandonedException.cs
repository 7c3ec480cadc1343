namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>Ends a thread whose schedule need not be followed any further.</summary>
internal sealed class ScheduleAbandonedException : Exception
{
    public ScheduleAbandonedException()
        : base("Nothing went wrong: this schedule was abandoned.")
    {
    }
}
