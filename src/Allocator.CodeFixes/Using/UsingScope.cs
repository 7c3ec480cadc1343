using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Allocator.CodeFixes.Using;

/// <summary>The scope at whose end a <c>using</c> declaration disposes.</summary>
internal static class UsingScope
{
    /// <summary>
    /// Gets whether a <c>using</c> declaration can stand where <paramref name="statement"/> stands, and no span of its owner
    /// is used behind its scope.
    /// </summary>
    public static bool Allows(StatementSyntax statement, SourceFile source)
    {
        // Not in a switch section, nor as the body of an `if` or a loop.
        SyntaxNode? scope = statement.Parent switch
        {
            BlockSyntax block => block,
            GlobalStatementSyntax { Parent: CompilationUnitSyntax unit } => unit,
            _ => null,
        };
        return scope is not null && !HasLabels(scope) && !LetsViewsOut(scope, statement, source);
    }

    // No jump may cross a using declaration; that none does is certain where there is nowhere to jump to.
    private static bool HasLabels(SyntaxNode scope) =>
        scope.ChildNodes().Any(node => node is LabeledStatementSyntax or GlobalStatementSyntax { Statement: LabeledStatementSyntax });

    // Disposing at the end of the scope would turn a buffer that is now and then lost into one that always is.
    private static bool LetsViewsOut(SyntaxNode scope, StatementSyntax statement, SourceFile source)
    {
        IMethodSymbol? function = source.FunctionAround(statement);
        if (function is null or { ReturnsByRef: true } or { ReturnsByRefReadonly: true } || Views.Is(function.ReturnType))
        {
            return true;
        }

        IEnumerable<ExpressionSyntax> targets = scope.DescendantNodes().OfType<ExpressionSyntax>().Where(Assignments.IsTarget);
        return targets.Any(target => CanTakeAView(target, source) && IsDeclaredOutside(source.SymbolOf(target), scope));
    }

    private static bool CanTakeAView(ExpressionSyntax target, SourceFile source) =>
        target.Parent is AssignmentExpressionSyntax { Right: RefExpressionSyntax } || Views.Is(source.TypeOf(target));

    private static bool IsDeclaredOutside(ISymbol? symbol, SyntaxNode scope) =>
        symbol is not null && !symbol.DeclaringSyntaxReferences.Any(declaration =>
            declaration.SyntaxTree == scope.SyntaxTree && scope.Span.Contains(declaration.Span));
}
