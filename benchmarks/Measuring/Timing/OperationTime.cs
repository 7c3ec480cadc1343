namespace Measuring.Timing;

/// <summary>How long one operation took.</summary>
/// <param name="Best">The shortest round, in nanoseconds an operation.</param>
/// <param name="Ratio">The median over the rounds of its time divided by that of the first operation in the same round.</param>
/// <param name="AllocatedBytes">What one operation allocates on the managed heap, on the thread that measures, in bytes.</param>
public sealed record OperationTime(string Name, double Median, double Best, double Ratio, double AllocatedBytes);
