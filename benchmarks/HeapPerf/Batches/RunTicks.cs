using System.Diagnostics;

namespace HeapPerf.Batches;

/// <summary>The time of one thread's run, in ticks of <see cref="Stopwatch"/>, with one reading of the clock a batch in each of the two.</summary>
/// <param name="Allocate">The time of its allocations.</param>
/// <param name="Free">The time of its frees.</param>
internal readonly record struct RunTicks(long Allocate, long Free);
