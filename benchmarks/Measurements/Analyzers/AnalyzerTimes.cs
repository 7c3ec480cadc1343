using System.Runtime.Loader;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Measurements.Analyzers;

/// <summary>What one run took: processor time of the process, time by the clock, and time inside of the analyzer's actions.</summary>
internal sealed record RunTime(double Processor, double Clock, double Own);

/// <summary>
/// Measures what an analyzer adds to a build and to an editor's look at one file, beside none and an earlier version, in turn.
/// </summary>
internal sealed class AnalyzerTimes(FileInfo? before, int rounds)
{
    public const string Without = "none";
    private const string Before = "before";
    private const string Now = "now";

    private readonly List<(string Name, Func<DiagnosticAnalyzer?> Make)> _ways =
    [
        (Without, () => null),
        .. before is null ? [] : ((string, Func<DiagnosticAnalyzer?>)[])[(Before, OlderAnalyzer(before))],
        (Now, () => new LifetimeAnalyzer()),
    ];

    /// <summary>Measures whole compilations, with as many threads as the compiler takes.</summary>
    public IReadOnlyList<(string Way, RunTime Time)> OfBuild(CSharpCompilation compilation) =>
        Measure(analyzer => Build(compilation.Clone(), analyzer));

    /// <summary>Measures single files, on one thread, each in a compilation that knows nothing yet; the medians by file.</summary>
    public IReadOnlyList<(string Way, IReadOnlyList<RunTime> Times)> OfFiles(
        CSharpCompilation compilation, IReadOnlyList<SyntaxTree> files)
    {
        List<IReadOnlyList<(string Way, RunTime Time)>> all =
            [.. files.Select(file => Measure(analyzer => Look(compilation.Clone(), file, analyzer)))];
        return [.. _ways.Select((way, index) => (way.Name, (IReadOnlyList<RunTime>)[.. all.Select(times => times[index].Time)]))];
    }

    // The first round is for the compiler of this process.
    private List<(string Way, RunTime Time)> Measure(Func<DiagnosticAnalyzer?, RunTime> run)
    {
        List<RunTime>[] times = [.. _ways.Select(_ => new List<RunTime>())];
        for (int round = 0; round <= rounds; round++)
        {
            for (int way = 0; way < times.Length; way++)
            {
                RunTime time = run(_ways[way].Make());
                if (round > 0)
                {
                    times[way].Add(time);
                }
            }
        }

        return [.. _ways.Select((way, index) => (way.Name, Median(times[index])))];
    }

    private static RunTime Median(List<RunTime> times) => new(
        Median([.. times.Select(time => time.Processor)]),
        Median([.. times.Select(time => time.Clock)]),
        Median([.. times.Select(time => time.Own)]));

    private static double Median(double[] values)
    {
        Array.Sort(values);
        return values[values.Length / 2];
    }

    private static RunTime Build(CSharpCompilation compilation, DiagnosticAnalyzer? analyzer) => Timed(() =>
    {
        if (analyzer is null)
        {
            compilation.GetDiagnostics();
            return null;
        }

        CompilationWithAnalyzers run = Start(compilation, analyzer, isConcurrent: true);
        run.GetAllDiagnosticsAsync(CancellationToken.None).GetAwaiter().GetResult();
        return run;
    }, analyzer);

    private static RunTime Look(CSharpCompilation compilation, SyntaxTree file, DiagnosticAnalyzer? analyzer) => Timed(() =>
    {
        SemanticModel model = compilation.GetSemanticModel(file);
        if (analyzer is null)
        {
            model.GetDiagnostics();
            return null;
        }

        CompilationWithAnalyzers run = Start(compilation, analyzer, isConcurrent: false);
        run.GetAnalyzerSemanticDiagnosticsAsync(model, null, CancellationToken.None).GetAwaiter().GetResult();
        return run;
    }, analyzer);

    private static RunTime Timed(Func<CompilationWithAnalyzers?> work, DiagnosticAnalyzer? analyzer)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        TimeSpan processor = Environment.CpuUsage.TotalTime;
        long start = Stopwatch.GetTimestamp();
        CompilationWithAnalyzers? run = work();
        double clock = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        double used = (Environment.CpuUsage.TotalTime - processor).TotalMilliseconds;
        TimeSpan own = run is null ? TimeSpan.Zero
            : run.GetAnalyzerTelemetryInfoAsync(analyzer!, CancellationToken.None).GetAwaiter().GetResult()!.ExecutionTime;
        return new RunTime(used, clock, own.TotalMilliseconds);
    }

    private static CompilationWithAnalyzers Start(Compilation compilation, DiagnosticAnalyzer analyzer, bool isConcurrent) =>
        compilation.WithAnalyzers([analyzer], new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]), null, isConcurrent, logAnalyzerExecutionTime: true));

    // Of the same name as this one's: in a context of its own, on the same compiler.
    private static Func<DiagnosticAnalyzer?> OlderAnalyzer(FileInfo assembly)
    {
        Type type = new AssemblyLoadContext("before").LoadFromAssemblyPath(assembly.FullName).GetType(typeof(LifetimeAnalyzer).FullName!)!;
        return () => (DiagnosticAnalyzer)Activator.CreateInstance(type)!;
    }
}
