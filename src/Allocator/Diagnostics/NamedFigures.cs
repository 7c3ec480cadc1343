namespace Allocator.Diagnostics;

/// <summary>What one collection tells of all allocators of one name.</summary>
/// <param name="Name">The name; empty for those without.</param>
/// <param name="Values">By <see cref="UsageFigure"/>.</param>
/// <param name="HasBudget">Whether any of them has a memory budget.</param>
/// <param name="IsLive">Whether there is any; otherwise only what ended ones have done is told.</param>
internal sealed record NamedFigures(string Name, long[] Values, bool HasBudget, bool IsLive)
{
    public long this[UsageFigure figure] => Values[(int)figure];
}
