using AnalyzerReach.Mutations;

namespace AnalyzerReach.Trials;

/// <summary>What became of one mutation.</summary>
/// <param name="Place">File and line.</param>
/// <param name="Compiles">Whether the mutated file compiles.</param>
/// <param name="Rule">The rule that found it, or null.</param>
/// <param name="Circumstance">What the owner goes through, to explain a miss.</param>
internal sealed record Outcome(string Place, bool Compiles, string? Rule, Circumstance Circumstance);
