namespace Measurements.Analyzers;

/// <summary>What the analyzer says of a project as it stands.</summary>
internal sealed record ProjectReach(string Name, int Lines, int Usings, int Warnings, int Suppressed, int Leaks, TimeSpan Time);
