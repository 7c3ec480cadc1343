namespace Allocator.Concurrency.Interleaving;

/// <summary>What a search has come to.</summary>
/// <param name="Schedules">How many schedules were run to their end.</param>
/// <param name="Redundant">How many were begun, and given up because others show the same.</param>
/// <param name="IsExhaustive">Whether all that can happen has been seen.</param>
/// <param name="LongestSchedule">The most steps of a schedule.</param>
/// <param name="Failure">What went wrong, and the schedule in which it did; null where nothing does.</param>
public sealed record Outcome(int Schedules, int Redundant, bool IsExhaustive, int LongestSchedule, string? Failure)
{
    public override string ToString() =>
        Failure ?? $"{Schedules} schedules, {(IsExhaustive ? "all there are" : "not all")}, of up to {LongestSchedule} steps; "
            + $"{Redundant} begun in vain";
}
