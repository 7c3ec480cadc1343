namespace Allocator.Benchmarks.Reporting;

/// <summary>A parameter of a benchmark and its value.</summary>
/// <param name="Name">The name of its property.</param>
/// <param name="Value">The value as BenchmarkDotNet shows it.</param>
internal sealed record MeasuredParameter(string Name, string Value);
