namespace Measurements.Report;

/// <summary>What was measured on machines with one kind of processor.</summary>
/// <param name="Notes">What somebody wrote about it by hand, in Markdown; null where nobody did.</param>
internal sealed record ProcessorResults(string Name, string? Notes, IReadOnlyList<StoredResult> Results);
