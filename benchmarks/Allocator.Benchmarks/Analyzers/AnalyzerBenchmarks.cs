using System.Collections.Immutable;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Allocator.Benchmarks.Analyzers;

/// <summary>
/// What the analyzer adds where an editor looks at a long file: every member of a class of 2,000 lines rents and disposes. Beside an
/// analyzer that is asked about each call and does nothing, as those of the SDK are: for the first that does, the compiler reads all
/// bodies once more.
/// </summary>
[MemoryDiagnoser]
public class AnalyzerBenchmarks
{
    // Of seven lines each.
    private const int Methods = 2000 / 7;

    private CSharpCompilation _compilation = null!;

    [GlobalSetup]
    public void SetUp()
    {
        StringBuilder text = new("using Allocator;\n\npublic static class Long\n{\n");
        for (int i = 0; i < Methods; i++)
        {
            _ = text.Append(CultureInfo.InvariantCulture, $$"""
                    public static int M{{i}}(int length)
                    {
                        using System.Buffers.IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(length);
                        System.Span<byte> span = owner.Memory.Span;
                        return span[{{i}}];
                    }


                """);
        }

        string trusted = (string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!;
        _compilation = CSharpCompilation.Create(
            "Long",
            [CSharpSyntaxTree.ParseText(text.Append("}\n").ToString())],
            trusted.Split(Path.PathSeparator).Append(typeof(MemoryAllocator).Assembly.Location).Distinct()
                .Where(file => Path.GetFileName(file).StartsWith("System.", StringComparison.Ordinal)
                    || Path.GetFileName(file) == "Allocator.dll")
                .Select(file => MetadataReference.CreateFromFile(file)),
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary));
        if (_compilation.GetDiagnostics().FirstOrDefault(found => found.Severity == DiagnosticSeverity.Error) is { } error)
        {
            throw new InvalidOperationException($"The file does not compile: {error}");
        }
    }

    [Benchmark(Baseline = true, Description = "analyzer that does nothing")]
    public ImmutableArray<Diagnostic> Idle() => Look(new IdleAnalyzer());

    [Benchmark(Description = "the analyzer")]
    public ImmutableArray<Diagnostic> Lifetime() => Look(new LifetimeAnalyzer());

    private ImmutableArray<Diagnostic> Look(DiagnosticAnalyzer analyzer)
    {
        // A clone knows nothing yet.
        CSharpCompilation compilation = _compilation.Clone();
        SemanticModel model = compilation.GetSemanticModel(compilation.SyntaxTrees[0]);
        CompilationWithAnalyzersOptions options = new(
            new AnalyzerOptions([]), onAnalyzerException: null, concurrentAnalysis: false, logAnalyzerExecutionTime: false);
        return compilation.WithAnalyzers([analyzer], options)
            .GetAnalyzerSemanticDiagnosticsAsync(model, null, CancellationToken.None).GetAwaiter().GetResult();
    }
}

/// <summary>Asks for every call and does nothing with it.</summary>
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
            block.RegisterOperationAction(static _ => { }, OperationKind.Invocation));
    }
}
