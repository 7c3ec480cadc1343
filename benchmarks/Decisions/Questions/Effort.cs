namespace Decisions.Questions;

/// <summary>How much time a run may take.</summary>
/// <param name="IsQuick">Whether it only has to show that the program works.</param>
internal sealed record Effort(bool IsQuick)
{
    /// <summary>Returns the first value for a real run, and the second for a quick one.</summary>
    public T Choose<T>(T real, T quick) => IsQuick ? quick : real;
}
