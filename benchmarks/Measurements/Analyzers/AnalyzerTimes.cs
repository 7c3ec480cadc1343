using System.Collections.Immutable;
using System.Runtime.Loader;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Measurements.Analyzers;

/// <summary>What one run took: processor time of the process, time by the clock, and time inside of the analyzer's actions.</summary>
internal sealed record RunTime(double Processor, double Clock, double Own);

/// <summary>All rounds of one way.</summary>
internal sealed record WayTimes(string Way, IReadOnlyList<RunTime> Rounds)
{
    public double Median(Func<RunTime, double> value) => Middle(Rounds.Select(value));

    /// <summary>Gives what each round took more than that of <paramref name="other"/> beside it: the middle one.</summary>
    public double AddedTo(WayTimes other, Func<RunTime, double> value) =>
        Middle(Rounds.Zip(other.Rounds, (mine, others) => value(mine) - value(others)));

    public static double Middle(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return sorted[sorted.Length / 2];
    }
}

/// <summary>
/// Measures what an analyzer adds to a build and to an editor's look at one file, beside none and an earlier version, in turn.
/// </summary>
internal sealed class AnalyzerTimes(FileInfo? before, int rounds)
{
    private readonly List<(string Name, Func<DiagnosticAnalyzer?> Make)> _ways =
    [
        ("none", () => null),
        ("one that does nothing", () => new IdleAnalyzer()),
        .. before is null ? [] : ((string, Func<DiagnosticAnalyzer?>)[])[("before", OlderAnalyzer(before))],
        ("now", () => new LifetimeAnalyzer()),
    ];

    /// <summary>Measures whole compilations, with as many threads as the compiler takes.</summary>
    public IReadOnlyList<WayTimes> OfBuild(CSharpCompilation compilation) =>
        Measure(analyzer => Build(compilation.Clone(), analyzer), skipped: 0);

    /// <summary>Measures a single file, on one thread, each time in a compilation that knows nothing yet.</summary>
    public IReadOnlyList<WayTimes> OfFile(CSharpCompilation compilation, SyntaxTree file) =>
        // The first rounds are for the compiler of this process.
        Measure(analyzer => Look(compilation.Clone(), file, analyzer), skipped: 2);

    private IReadOnlyList<WayTimes> Measure(Func<DiagnosticAnalyzer?, RunTime> run, int skipped)
    {
        List<RunTime>[] times = [.. _ways.Select(_ => new List<RunTime>())];
        for (int round = -skipped; round < rounds; round++)
        {
            for (int way = 0; way < times.Length; way++)
            {
                RunTime time = run(_ways[way].Make());
                if (round >= 0)
                {
                    times[way].Add(time);
                }
            }
        }

        return [.. _ways.Select((way, index) => new WayTimes(way.Name, times[index]))];
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

/// <summary>
/// Asks for every call and does nothing with it: what the compiler does once for all analyzers that do so, those of the SDK among them.
/// </summary>
#pragma warning disable RS1036, RS1038, RS1041, RS2008 // Never shipped.
[DiagnosticAnalyzer(LanguageNames.CSharp)]
internal sealed class IdleAnalyzer : DiagnosticAnalyzer
{
    private static readonly DiagnosticDescriptor s_rule = new("IDLE", "Idle", "Idle", "Idle", DiagnosticSeverity.Warning, true);

    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics => [s_rule];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationBlockStartAction(static block =>
        {
            block.RegisterOperationAction(static _ => { }, OperationKind.Invocation);
            block.RegisterOperationBlockEndAction(static _ => { });
        });
    }
}
