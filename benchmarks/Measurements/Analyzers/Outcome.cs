namespace Measurements.Analyzers;

/// <summary>What became of one mutation.</summary>
/// <param name="Circumstance">What the owner goes through, to explain a miss.</param>
internal sealed record Outcome(string Place, bool Compiles, string? Rule, Circumstance Circumstance);
