namespace Measuring.Results;

/// <summary>How a value is shown.</summary>
/// <param name="Unit">The unit (<c>ns</c>, <c>MB</c>, <c>×</c>), or null where the value is a count.</param>
/// <param name="Format">The .NET format of the number, for instance <c>0.0</c> or <c>N0</c>.</param>
public sealed record ResultColumn(string Name, string? Unit, string Format);
