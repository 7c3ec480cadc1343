namespace Fragmentation.Churn;

/// <summary>The memory after a number of iterations, in bytes.</summary>
/// <param name="Iteration">How many iterations were done.</param>
/// <param name="Resident">The resident set.</param>
/// <param name="Committed">The commit charge; null where the system does not tell.</param>
internal sealed record ChurnSample(int Iteration, long Resident, long? Committed);
