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
/// Measures single calls with BenchmarkDotNet: renting, contention, clearing, rows, pages, and the analyzers, each as a ratio
/// to its baseline. BenchmarkDotNet keeps its own tables and logs in <c>artifacts/benchmarkdotnet</c>. ArrayPool and MemoryPool are the
/// shared ones, and classic is the model in <c>benchmarks/Measuring/Classic</c>.
/// </summary>
internal static class Program
{
    // Generous: what else the machine does should not end a run that takes a quarter of an hour.
    private static readonly TimeSpan s_buildTimeout = TimeSpan.FromMinutes(10);

    private static readonly Option<string[]> s_filter = new("--filter", "-f")
    {
        Description = "Run only benchmarks whose full name matches, for instance *Contention*; several may be given.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => ["*"],
    };

    private static Task<int> Main(string[] arguments) => new RootCommand(
        "Measures single calls with BenchmarkDotNet, each as a ratio to its baseline.")
    {
        s_filter,
    }.Measures("Benchmarks", Measure).Parse(arguments).InvokeAsync();

    private static ResultDocument? Measure(MeasurementRun run)
    {
        IConfig config = CreateConfig(run.IsQuick ? QuickJob() : FullJob());
        Summary[] summaries =
            [.. BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(["--filter", .. run.Get(s_filter)], config)];
        bool isComplete = summaries.Length > 0
            && summaries.All(summary => summary.Reports.Length > 0
                && summary.Reports.All(report => report is { Success: true, ResultStatistics: not null }));
        if (!isComplete)
        {
            run.Failures.Add("A benchmark has no result; BenchmarkDotNet's log says why.");
            return null;
        }

        return run.NewDocument("Single calls, by BenchmarkDotNet") with { Tables = [.. summaries.Select(CreateTable)] };
    }

    private static ResultTable CreateTable(Summary summary) => new()
    {
        Title = summary.BenchmarksCases[0].Descriptor.Type.Name,
        Labels = ["call", "with", "baseline"],
        Columns =
        [
            new("mean", "ns", "N1"), new("standard error", "ns", "N1"), new("ratio", "×", "0.00"), new("GC", "B", "N0"),
        ],
        Rows =
        [
            .. from report in summary.Reports
               let benchmark = report.BenchmarkCase
               let baseline = summary.GetBaseline(summary.GetLogicalGroupKey(benchmark)!)
               let statistics = report.ResultStatistics!
               select new ResultRow(
                   [
                       benchmark.Descriptor.WorkloadMethodDisplayInfo.Trim('\''), benchmark.Parameters.DisplayInfo,
                       baseline?.Descriptor.WorkloadMethodDisplayInfo.Trim('\'') ?? "",
                   ],
                   [
                       statistics.Mean, statistics.StandardError,
                       baseline is null ? null : statistics.Mean / summary[baseline]!.ResultStatistics!.Mean,
                       report.GcStats.GetBytesAllocatedPerOperation(benchmark),
                   ]),
        ],
    };

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

    private static ManualConfig CreateConfig(Job job) => ManualConfig.CreateEmpty()
        .AddColumnProvider(DefaultColumnProviders.Instance)
        .AddExporter(MarkdownExporter.GitHub)
        .AddAnalyser([.. DefaultConfig.Instance.GetAnalysers()])
        .AddValidator([.. DefaultConfig.Instance.GetValidators()])
        .AddLogger(ConsoleLogger.Default)
        .AddJob(job)
        .AddLogicalGroupRules(BenchmarkLogicalGroupRule.ByCategory)
        .WithBuildTimeout(s_buildTimeout)
        .WithArtifactsPath(Path.Combine("artifacts", "benchmarkdotnet"));
}
