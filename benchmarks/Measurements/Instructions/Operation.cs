namespace Measurements.Instructions;

/// <summary>A loop of the sample.</summary>
/// <param name="Baseline">The loop that it is compared with; itself where it is one.</param>
/// <param name="MostInstructions">What <c>--check</c> lets it take: the count when it was last looked at, and a quarter of it for other compilers.</param>
internal sealed record Operation(string Name, string Title, string Baseline, int Repetitions, int MostInstructions);
