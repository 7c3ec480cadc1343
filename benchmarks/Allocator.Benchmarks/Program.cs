using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Perfolizer.Horology;

namespace Allocator.Benchmarks;

/// <summary>
/// Measures, with BenchmarkDotNet, what takes less than a millisecond: renting, clearing, rows, pages, and a small job. BenchmarkDotNet
/// writes the results. In them ArrayPool and MemoryPool are the shared ones, MemoryOwner is CommunityToolkit.HighPerformance's, and
/// classic is the model in <c>benchmarks/Measuring/Classic</c>.
/// </summary>
internal static class Program
{
    // Generous: what else the machine does should not end a run that takes a quarter of an hour.
    private static readonly TimeSpan s_buildTimeout = TimeSpan.FromMinutes(10);

    private static Task<int> Main(string[] arguments)
    {
        Option<string[]> filter = new("--filter", "-f")
        {
            Description = "Run only benchmarks whose full name matches, for instance *Contention*; several may be given.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => ["*"],
        };
        Option<bool> quick = new("--quick")
        {
            Description = "Run every benchmark once, cold and in this process, to see that it works; the figures are noise.",
        };
        Option<DirectoryInfo> output = new("--output")
        {
            Description = "Where BenchmarkDotNet writes its results and its log.",
            DefaultValueFactory = _ => new DirectoryInfo(Path.Combine("artifacts", "benchmarkdotnet")),
        };
        RootCommand root = new("Measures, with BenchmarkDotNet, what takes less than a millisecond.") { filter, quick, output };
        root.SetAction(parsed =>
        {
            IConfig config = CreateConfig(parsed.GetValue(quick) ? QuickJob() : FullJob(), parsed.GetRequiredValue(output));
            Summary[] summaries =
                [
                    .. BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(
                        ["--filter", .. parsed.GetRequiredValue(filter)], config),
                ];
            bool isComplete = summaries.Length > 0
                && summaries.All(summary => summary.Reports.Length > 0
                    && summary.Reports.All(report => report is { Success: true, ResultStatistics: not null }));
            return isComplete ? 0 : 1;
        });
        return root.Parse(arguments).InvokeAsync();
    }

    // Short, so that all benchmarks together stay within a quarter of an hour.
    private static Job FullJob() => Job.Default
        .WithLaunchCount(1)
        .WithWarmupCount(3)
        .WithIterationCount(8)
        .WithIterationTime(TimeInterval.FromMilliseconds(100))

        // BenchmarkDotNet builds everything once more; the analyzers have seen it in the ordinary build.
        .WithArguments([new MsBuildArgument("/p:RunAnalyzers=false")])
        .WithId("full");

    private static Job QuickJob() => Job.Dry.WithToolchain(InProcessEmitToolchain.DontLogOutput).WithId("quick");

    private static ManualConfig CreateConfig(Job job, DirectoryInfo output) => ManualConfig.CreateEmpty()
        .AddColumnProvider(DefaultColumnProviders.Instance)
        .AddExporter(MarkdownExporter.GitHub)
        .AddAnalyser([.. DefaultConfig.Instance.GetAnalysers()])
        .AddValidator([.. DefaultConfig.Instance.GetValidators()])
        .AddLogger(ConsoleLogger.Default)
        .AddJob(job)
        .WithBuildTimeout(s_buildTimeout)
        .WithArtifactsPath(output.FullName);
}
