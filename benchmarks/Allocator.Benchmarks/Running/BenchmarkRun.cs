using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Filters;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Measuring.Results;
using Spectre.Console;

namespace Allocator.Benchmarks.Running;

/// <summary>Runs benchmarks, shows what they found and saves it.</summary>
internal sealed class BenchmarkRun
{
    // Below artifacts, as everything that is built or measured; never in the root of the repository.
    private static readonly string s_logs = Path.Combine("artifacts", "benchmarkdotnet");

    // Generous: what else the machine does should not end a run that takes a quarter of an hour.
    private static readonly TimeSpan s_buildTimeout = TimeSpan.FromMinutes(10);

    private const string Names =
        "ArrayPool and MemoryPool are the shared ones, MemoryOwner is CommunityToolkit.HighPerformance's, classic is the model in benchmarks/Measuring/Classic: a lock, and a finalizable guard a rent.";

    private readonly RunLength _length;
    private readonly string[] _filters;
    private readonly IAnsiConsole _console;

    /// <summary>Prepares a run of the benchmarks that one of <paramref name="filters"/> matches, or of all where there is none.</summary>
    public BenchmarkRun(RunLength length, string[] filters, IAnsiConsole console)
    {
        _length = length;
        _filters = filters;
        _console = console;
    }

    /// <summary>
    /// Runs them and saves a file for each class in the folder that <paramref name="folder"/> returns. Returns the exit code: 0 where every benchmark was measured.
    /// </summary>
    /// <param name="empty">The document that every result starts from.</param>
    /// <param name="folder">Where the results go.</param>
    public int Run(ResultDocument empty, string folder)
    {
        long start = Stopwatch.GetTimestamp();
        int total = BenchmarkSelection.Select(CreateConfig(progress: null)).Sum(run => run.BenchmarksCases.Length);
        if (total == 0)
        {
            _console.MarkupLineInterpolated($"[red]--filter {string.Join(' ', _filters)} matches no benchmark. A filter is matched against whole names; * stands for any characters. The names begin with:[/]");
            foreach (Type type in BenchmarkSelection.Classes)
            {
                _console.WriteLine($"  {type.FullName}.");
            }

            return 1;
        }

        Summary[] summaries = BenchmarkRunner.Run(BenchmarkSelection.Select(CreateConfig(new RunProgress(_console, total))));

        // Where all failed, nothing is saved: an empty table must not replace what an earlier run found.
        foreach (Summary summary in summaries.Where(summary => CountMeasured(summary) > 0))
        {
            ResultDocument document = SummaryDocument.Create(summary, empty with { Date = DateTimeOffset.UtcNow }, [Names, _length.Note]);
            _console.WriteLine();
            ResultConsole.Write(_console, document);
            _console.WriteLine($"results   {ResultFile.Save(document, folder)}");
        }

        int failed = total - summaries.Sum(CountMeasured);
        WriteFailures(summaries, failed);
        _console.WriteLine($"log       {summaries.Select(summary => summary.LogFilePath).FirstOrDefault(path => !string.IsNullOrEmpty(path)) ?? s_logs}");
        _console.WriteLine(FormattableString.Invariant($"elapsed   {Stopwatch.GetElapsedTime(start).TotalSeconds:N0} s for {total} benchmarks, {failed} failed"));
        return failed == 0 ? 0 : 1;
    }

    private static int CountMeasured(Summary summary) => summary.Reports.Count(report => report.Success && report.ResultStatistics is not null);

    private ManualConfig CreateConfig(RunProgress? progress)
    {
        ManualConfig config = ManualConfig.CreateEmpty()
            .AddColumnProvider(DefaultColumnProviders.Instance)
            .AddExporter(MarkdownExporter.GitHub)
            .AddAnalyser([.. DefaultConfig.Instance.GetAnalysers()])
            .AddValidator([.. DefaultConfig.Instance.GetValidators()])
            .AddLogger(NullLogger.Instance)
            .AddJob(_length.Job)
            .WithBuildTimeout(s_buildTimeout)
            .WithArtifactsPath(s_logs);
        if (progress is not null)
        {
            _ = config.AddEventProcessor(progress);
        }

        return _filters.Length > 0 ? config.AddFilter(new GlobFilter(_filters)) : config;
    }

    private void WriteFailures(IReadOnlyList<Summary> summaries, int failed)
    {
        if (failed == 0)
        {
            return;
        }

        IEnumerable<string> reasons = summaries
            .SelectMany(summary => summary.ValidationErrors.Where(error => error.IsCritical).Select(error => error.Message)
                .Concat(summary.Reports.Where(report => !report.Success || report.ResultStatistics is null).Select(Explain)))
            .Distinct();
        foreach (string reason in reasons)
        {
            _console.MarkupLineInterpolated($"[red]{reason}[/]");
        }
    }

    private static string Explain(BenchmarkReport report)
    {
        string reason = report.BuildResult is { IsBuildSuccess: false } build
            ? build.ErrorMessage ?? build.GenerateException?.Message ?? "it could not be built"
            : string.Join(' ', report.ExecuteResults.SelectMany(result => result.Errors).Take(5));
        return $"{report.BenchmarkCase.Descriptor.GetFilterName()} {report.BenchmarkCase.Parameters.DisplayInfo}: {(reason.Length > 0 ? reason : "see the log")}";
    }
}
