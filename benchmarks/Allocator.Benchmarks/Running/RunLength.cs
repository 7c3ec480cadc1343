using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Perfolizer.Horology;

namespace Allocator.Benchmarks.Running;

/// <summary>How long each benchmark is measured, and where.</summary>
/// <param name="Job">BenchmarkDotNet's word for it.</param>
/// <param name="Note">The same for readers of the figures.</param>
internal sealed record RunLength(Job Job, string Note)
{
    private const int WarmUps = 3;
    private const int Iterations = 8;
    private const int IterationMilliseconds = 100;

    /// <summary>Gets the length for figures: short, so that all benchmarks together stay within a quarter of an hour.</summary>
    public static RunLength Full { get; } = new(
        Job.Default
            .WithLaunchCount(1)
            .WithWarmupCount(WarmUps)
            .WithIterationCount(Iterations)
            .WithIterationTime(TimeInterval.FromMilliseconds(IterationMilliseconds))

            // BenchmarkDotNet builds everything once more; the analyzers have seen it in the ordinary build.
            .WithArguments([new MsBuildArgument("/p:RunAnalyzers=false")])
            .WithId("full"),
        $"BenchmarkDotNet: each benchmark in a process of its own, {WarmUps} warm-ups and {Iterations} iterations of {IterationMilliseconds} ms, slow outliers removed. "
        + "Ratios are those of the means. The error is half of the 99.9 % confidence interval; gen0 to gen2 are collections in 1,000 operations, - where there was none. "
        + "Allocated bytes are those of the whole process: where an operation takes milliseconds, a few hundred or thousand are the runtime's own.");

    /// <summary>Gets the length for seeing that everything runs: every benchmark once, in this process, which is not to be mistaken for a measurement.</summary>
    public static RunLength Quick { get; } = new(
        Job.Dry.WithToolchain(InProcessEmitToolchain.DontLogOutput).WithId("quick"),
        "Quick run: every benchmark once, cold, and all of them in one process. The figures are noise.");
}
