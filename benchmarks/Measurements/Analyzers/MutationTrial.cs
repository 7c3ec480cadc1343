using System.Collections.Immutable;
using System.Runtime;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace Measurements.Analyzers;

/// <summary>What became of one mutation.</summary>
internal sealed record Outcome(bool Compiles, string? Rule);

/// <summary>Makes one mistake at a time in a project, and looks whether the analyzer names the allocation that suffers.</summary>
internal sealed class MutationTrial(CorpusProject project)
{
    public IEnumerable<Outcome> RemoveUsings(IEnumerable<OwnedLocal> locals) =>
        locals.Select(local => Try(local, UsingRemoval.Apply(local)));

    public IEnumerable<Outcome> DisposeEarly(IEnumerable<OwnedLocal> locals) =>
        from local in locals
        where local.IsBuffer
        let model = ModelOf(local)
        let last = PrematureDispose.LastUse(local, model)
        where last is not null
        select Try(local, PrematureDispose.Apply(local, last));

    private SemanticModel ModelOf(OwnedLocal local) => project.Compilation.GetSemanticModel(local.Variable.SyntaxTree);

    private Outcome Try(OwnedLocal local, SyntaxTree mutated)
    {
        SyntaxTree original = local.Variable.SyntaxTree;
        CSharpCompilation compilation = project.Compilation.ReplaceSyntaxTree(original, mutated);

        VariableDeclaratorSyntax variable = Refind(local, mutated);
        TextSpan member = variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!.Span;
        bool compiles = compilation.GetSemanticModel(mutated).GetDiagnostics(member).All(
            diagnostic => diagnostic.DefaultSeverity != DiagnosticSeverity.Error);
        Diagnostic? found = !compiles ? null : AnalyzerTrial.OfSpan(compilation, mutated, member)
            .FirstOrDefault(
                diagnostic => !diagnostic.IsSuppressed && diagnostic.AdditionalLocations.Any(
                    location => variable.Span.Contains(location.SourceSpan)));
        return new Outcome(compiles, found?.Id);
    }

    // Both trees have the same declarators in the same order: no mutation adds or takes one.
    private static VariableDeclaratorSyntax Refind(OwnedLocal local, SyntaxTree mutated)
    {
        int index = local.Variable.SyntaxTree.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>().TakeWhile(
            variable => variable != local.Variable).Count();
        return mutated.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>().ElementAt(index);
    }
}

/// <summary>Disposes an owner just before the last statement that uses it or a view of it.</summary>
internal static class PrematureDispose
{
    /// <summary>Gives the last statement of the owner's scope that uses it, or null where none does.</summary>
    public static StatementSyntax? LastUse(OwnedLocal local, SemanticModel model)
    {
        HashSet<ISymbol> views = new(SymbolEqualityComparer.Default) { local.Symbol };
        StatementSyntax? last = null;
        foreach (StatementSyntax statement in Scope(local))
        {
            if (!Mentions(statement, views, model))
            {
                continue;
            }

            last = statement;
            if (statement is LocalDeclarationStatementSyntax declaration)
            {
                views.UnionWith(declaration.Declaration.Variables.Select(variable => model.GetDeclaredSymbol(variable)!).Where(IsView));
            }
        }

        return last is LocalFunctionStatementSyntax ? null : last;
    }

    public static SyntaxTree Apply(OwnedLocal local, StatementSyntax statement)
    {
        SyntaxNode root = statement.SyntaxTree.GetRoot();
        StatementSyntax call = SyntaxFactory.ParseStatement($"{local.Name}.Dispose();\n");
        return root.SyntaxTree.WithRootAndOptions(root.InsertNodesBefore(statement, [call]), root.SyntaxTree.Options);
    }

    public static bool Mentions(SyntaxNode node, HashSet<ISymbol> symbols, SemanticModel model) =>
        node.DescendantNodesAndSelf().OfType<IdentifierNameSyntax>()
            .Any(name => model.GetSymbolInfo(name).Symbol is { } symbol && symbols.Contains(symbol));

    private static IEnumerable<StatementSyntax> Scope(OwnedLocal local)
    {
        IEnumerable<StatementSyntax> After(SyntaxList<StatementSyntax> all) => all.SkipWhile(one => one != local.Using).Skip(1);
        return local.Using switch
        {
            UsingStatementSyntax { Statement: BlockSyntax block } => block.Statements,
            LocalDeclarationStatementSyntax { Parent: BlockSyntax block } => After(block.Statements),
            LocalDeclarationStatementSyntax { Parent: SwitchSectionSyntax section } => After(section.Statements),
            _ => [],
        };
    }

    private static bool IsView(ISymbol symbol) =>
        symbol is ILocalSymbol { RefKind: not RefKind.None }
            or ILocalSymbol { Type: IPointerTypeSymbol or { IsRefLikeType: true } or { Name: "Memory" or "ReadOnlyMemory" } };
}

/// <summary>Takes one <c>using</c> away: the mistake that no test shows.</summary>
internal static class UsingRemoval
{
    public static SyntaxTree Apply(OwnedLocal local)
    {
        SyntaxNode root = local.Using.SyntaxTree.GetRoot();
        StatementSyntax replacement = local.Using switch
        {
            LocalDeclarationStatementSyntax declaration => WithoutKeyword(declaration),
            UsingStatementSyntax statement => SyntaxFactory.Block(
                SyntaxFactory.LocalDeclarationStatement(
                    statement.Declaration!.WithoutTrivia()).NormalizeWhitespace(), statement.Statement),
            _ => local.Using,
        };
        return root.SyntaxTree.WithRootAndOptions(root.ReplaceNode(local.Using, replacement), root.SyntaxTree.Options);
    }

    private static LocalDeclarationStatementSyntax WithoutKeyword(LocalDeclarationStatementSyntax declaration) =>
        declaration.WithAwaitKeyword(default).WithUsingKeyword(default).WithLeadingTrivia(declaration.GetLeadingTrivia());
}

/// <summary>Runs the analyzer over a project, or a part of a file of it.</summary>
internal static class AnalyzerTrial
{
    private const int Runs = 5;
    private const long QuietBytes = 200L << 20;

    /// <summary>
    /// Gives all reports, and the least time that the analyzer itself took: builds run in a compiler that has long been warm.
    /// </summary>
    public static (ImmutableArray<Diagnostic> Found, TimeSpan Time) OfProject(Compilation compilation)
    {
        (ImmutableArray<Diagnostic> found, TimeSpan least) = Once(compilation);
        for (int run = 1; run < Runs; run++)
        {
            TimeSpan time = Once(compilation).Time;
            least = time < least ? time : least;
        }

        return (found, least);
    }

    private static (ImmutableArray<Diagnostic> Found, TimeSpan Time) Once(Compilation compilation)
    {
        LifetimeAnalyzer analyzer = new();
        CompilationWithAnalyzers run = Start(compilation, analyzer);

        // A collection that falls into an action would be counted as the analyzer's, though the compiler made the garbage.
        bool isQuiet = GC.TryStartNoGCRegion(QuietBytes);
        ImmutableArray<Diagnostic> found = run.GetAnalyzerDiagnosticsAsync(CancellationToken.None).GetAwaiter().GetResult();
        if (isQuiet && GCSettings.LatencyMode == GCLatencyMode.NoGCRegion)
        {
            GC.EndNoGCRegion();
        }

        TimeSpan time = run.GetAnalyzerTelemetryInfoAsync(analyzer, CancellationToken.None).GetAwaiter().GetResult()!.ExecutionTime;
        return (found, time);
    }

    public static ImmutableArray<Diagnostic> OfSpan(Compilation compilation, SyntaxTree tree, TextSpan span) =>
        Start(compilation, new LifetimeAnalyzer())
            .GetAnalyzerSemanticDiagnosticsAsync(
                compilation.GetSemanticModel(tree), span, CancellationToken.None).GetAwaiter().GetResult();

    private static CompilationWithAnalyzers Start(Compilation compilation, DiagnosticAnalyzer analyzer) => compilation.WithAnalyzers(
        [analyzer], new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]), null, concurrentAnalysis: false, logAnalyzerExecutionTime: true, reportSuppressedDiagnostics: true));
}
