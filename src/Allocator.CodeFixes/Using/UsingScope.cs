using Allocator.Analyzers.Symbols;

namespace Allocator.CodeFixes.Using;

/// <summary>The scope at whose end a <c>using</c> declaration disposes.</summary>
internal static class UsingScope
{
    /// <summary>
    /// Gets whether a <c>using</c> declaration can stand before <paramref name="place"/>, a statement or the expression behind an arrow.
    /// It may need braces of its own. No span of the owner may be used after its scope.
    /// </summary>
    public static bool Allows(SyntaxNode place, SourceFile source)
    {
        SyntaxNode? scope = place.Parent switch
        {
            BlockSyntax block => block,
            GlobalStatementSyntax { Parent: CompilationUnitSyntax unit } => unit,
            SwitchSectionSyntax section when IsClosed(section) => section,
            IfStatementSyntax or ElseClauseSyntax or UsingStatementSyntax or FixedStatementSyntax or LockStatementSyntax => place,
            CommonForEachStatementSyntax or ForStatementSyntax or WhileStatementSyntax or DoStatementSyntax => place,
            ArrowExpressionClauseSyntax { ContainsDirectives: false } => place,
            LambdaExpressionSyntax { ContainsDirectives: false } lambda when !source.IsExpressionTree(lambda) => place,
            _ => null,
        };
        return scope is not null && !HasLabels(scope) && !LetsViewsOut(scope, place, source);
    }

    /// <summary>Returns the braces that a declaration before <paramref name="place"/> needs, or null if it needs none.</summary>
    public static Braces? BracesFor(SyntaxNode place, SourceFile source) => (place, place.Parent) switch
    {
        (_, SwitchSectionSyntax section) => new StatementBraces(section, source.Text),
        (_, BlockSyntax or GlobalStatementSyntax) => null,
        (ExpressionSyntax body, _) => new BodyBraces(body, source),
        _ => new StatementBraces(place, source.Text),
    };

    // The sections of a switch share their variables: braces would hide those of one section from the others.
    private static bool IsClosed(SwitchSectionSyntax section)
    {
        HashSet<string> declared = new(section.DescendantNodes().Select(NameDeclaredBy).OfType<string>());
        return !section.ContainsDirectives && section.Parent!.ChildNodes().Where(sibling => sibling != section)
            .SelectMany(sibling => sibling.DescendantNodes().OfType<IdentifierNameSyntax>())
            .All(name => !declared.Contains(name.Identifier.ValueText));
    }

    private static string? NameDeclaredBy(SyntaxNode node) => node switch
    {
        VariableDeclaratorSyntax variable => variable.Identifier.ValueText,
        SingleVariableDesignationSyntax variable => variable.Identifier.ValueText,
        LocalFunctionStatementSyntax function => function.Identifier.ValueText,
        _ => null,
    };

    // No jump may cross a using declaration; this is certain if the code has no place to jump to.
    private static bool HasLabels(SyntaxNode scope) =>
        scope.ChildNodes().Any(node => node is LabeledStatementSyntax or GlobalStatementSyntax { Statement: LabeledStatementSyntax });

    // Disposing at the end of the scope would turn a buffer that is sometimes lost into one that always is.
    private static bool LetsViewsOut(SyntaxNode scope, SyntaxNode place, SourceFile source)
    {
        IMethodSymbol? function = source.FunctionAround(place);
        if (function is null or { ReturnsByRef: true } or { ReturnsByRefReadonly: true } || KnownTypes.IsRaw(function.ReturnType))
        {
            return true;
        }

        IEnumerable<ExpressionSyntax> targets = scope.DescendantNodesAndSelf().OfType<ExpressionSyntax>().Where(Assignments.IsTarget);
        return targets.Any(target => CanTakeAView(target, source) && IsDeclaredOutside(source.SymbolOf(target), scope));
    }

    private static bool CanTakeAView(ExpressionSyntax target, SourceFile source) =>
        target.Parent is AssignmentExpressionSyntax { Right: RefExpressionSyntax } || KnownTypes.IsRaw(source.TypeOf(target))
        || (source.SymbolOf(target) is ILocalSymbol && source.Known?.Types.CanKeep(source.TypeOf(target)) == true);

    private static bool IsDeclaredOutside(ISymbol? symbol, SyntaxNode scope) =>
        symbol is not null && !symbol.DeclaringSyntaxReferences.Any(declaration =>
            declaration.SyntaxTree == scope.SyntaxTree && scope.Span.Contains(declaration.Span));
}
