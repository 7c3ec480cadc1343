namespace Decisions.Trimming;

/// <summary>The process at one moment.</summary>
/// <param name="Seconds">The time since the last burst ended.</param>
/// <param name="ResidentBytes">The process's resident memory.</param>
/// <param name="RetainedBytes">The pool's idle blocks.</param>
internal readonly record struct TrimmingSample(double Seconds, long ResidentBytes, long RetainedBytes);
