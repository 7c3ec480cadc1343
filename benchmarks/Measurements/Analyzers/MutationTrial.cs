using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Measurements.Analyzers;

/// <summary>What became of one mutation.</summary>
/// <param name="Rule">The rule that names the allocation, or null.</param>
/// <param name="Wrong">How many reports name something else that was not reported before.</param>
internal sealed record Outcome(bool Compiles, string? Rule, int Wrong, string Place);

/// <summary>Makes one mistake at a time in a project, and looks whether the analyzer names the allocation that suffers.</summary>
internal sealed class MutationTrial(CorpusProject project)
{
    public IEnumerable<Outcome> RemoveUsings(IEnumerable<OwnedLocal> locals) =>
        locals.Where(local => local.IsInUsing).Select(local => Try(local, UsingRemoval.Apply(local)));

    /// <summary>Takes away each call that disposes an owner by name; another may remain, on another path.</summary>
    public IEnumerable<Outcome> RemoveDisposals(IEnumerable<OwnedLocal> locals) =>
        from local in locals
        where local.IsBuffer && !local.IsInUsing
        let calls = StatementRemoval.DisposalsOf(local, ModelOf(local))
        where calls.Count > 0
        select Try(local, StatementRemoval.Apply(local, calls));

    /// <summary>Forgets to wait for an operation that was given the memory.</summary>
    public IEnumerable<Outcome> RemoveAwaits(IEnumerable<OwnedLocal> locals) =>
        from local in locals
        where local.IsBuffer && local.IsInUsing
        let awaiting = AwaitRemoval.In(local, ModelOf(local))
        where awaiting is not null
        select Try(local, AwaitRemoval.Apply(local, awaiting));

    public IEnumerable<Outcome> DisposeEarly(IEnumerable<OwnedLocal> locals) =>
        from local in locals
        where local.IsBuffer && local.IsInUsing
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
        FileLinePositionSpan line = local.Variable.GetLocation().GetLineSpan();
        string place = $"{line.Path}:{line.StartLinePosition.Line + 1}";
        if (!compiles)
        {
            return new Outcome(false, null, 0, place);
        }

        Diagnostic[] found =
        [
            .. AnalyzerTrial.OfSpan(compilation, mutated, member).Where(
                diagnostic => !diagnostic.IsSuppressed && IsIn(diagnostic, member)),
        ];
        TextSpan span = local.Variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!.Span;
        int before = AnalyzerTrial.OfSpan(project.Compilation, original, span).Count(diagnostic => IsIn(diagnostic, span));
        Diagnostic? named = found.FirstOrDefault(
            diagnostic => diagnostic.AdditionalLocations.Any(location => variable.Span.Contains(location.SourceSpan)));
        return new Outcome(true, named?.Id, Math.Max(0, found.Length - (named is null ? 0 : 1) - before), place);
    }

    private static bool IsIn(Diagnostic diagnostic, TextSpan span) => span.Contains(diagnostic.Location.SourceSpan);

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
        IEnumerable<StatementSyntax> After(SyntaxList<StatementSyntax> all) => all.SkipWhile(one => one != local.Declaration).Skip(1);
        return local.Declaration switch
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
        SyntaxNode root = local.Declaration.SyntaxTree.GetRoot();
        StatementSyntax replacement = local.Declaration switch
        {
            LocalDeclarationStatementSyntax declaration => WithoutKeyword(declaration),
            UsingStatementSyntax statement => SyntaxFactory.Block(
                SyntaxFactory.LocalDeclarationStatement(
                    statement.Declaration!.WithoutTrivia()).NormalizeWhitespace(), statement.Statement),
            _ => local.Declaration,
        };
        return root.SyntaxTree.WithRootAndOptions(root.ReplaceNode(local.Declaration, replacement), root.SyntaxTree.Options);
    }

    private static LocalDeclarationStatementSyntax WithoutKeyword(LocalDeclarationStatementSyntax declaration) =>
        declaration.WithAwaitKeyword(default).WithUsingKeyword(default).WithLeadingTrivia(declaration.GetLeadingTrivia());
}
