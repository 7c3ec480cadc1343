using Allocator.Analyzers.Symbols;

namespace Allocator.CodeFixes.Awaiting;

/// <summary>A task that an async method drops, as in <c>_ = stream.WriteAsync(owner.Memory);</c>.</summary>
internal static class DiscardedTask
{
    /// <summary>Returns the change that awaits the task, or none if the task is used otherwise or cannot be awaited.</summary>
    public static IEnumerable<TextChange> Changes(Diagnostic diagnostic, SourceFile source)
    {
        SyntaxNode call = source.Root.FindNode(diagnostic.Location.SourceSpan, getInnermostNodeForTie: true);
        if (call.FirstAncestorOrSelf<ExpressionStatementSyntax>() is not { ContainsDirectives: false } statement
            || source.FunctionAround(statement) is not { IsAsync: true }
            || statement.Ancestors().Any(node => node is LockStatementSyntax or UnsafeStatementSyntax or FixedStatementSyntax))
        {
            yield break;
        }

        ExpressionSyntax task = statement.Expression;
        if (task is AssignmentExpressionSyntax { Left: IdentifierNameSyntax { Identifier.ValueText: "_" } discard, Right: var value }
            && source.SymbolOf(discard) is IDiscardSymbol)
        {
            task = value;
        }

        bool isCall = task == call || (task is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax asTask }
            && asTask is { Name.Identifier.ValueText: "AsTask" } && asTask.Expression == call);
        if (isCall && Tasks.Is(source.TypeOf(task)) && !HasViews(statement, source))
        {
            yield return new TextChange(TextSpan.FromBounds(statement.SpanStart, task.SpanStart), "await ");
        }
    }

    // No span lives across an await.
    private static bool HasViews(StatementSyntax statement, SourceFile source) =>
        statement.Ancestors().First(node => node is BaseMethodDeclarationSyntax or LocalFunctionStatementSyntax
            or AnonymousFunctionExpressionSyntax or CompilationUnitSyntax).DescendantNodes().Any(node =>
            node is VariableDeclaratorSyntax or SingleVariableDesignationSyntax
            && source.DeclaredBy(node) is ILocalSymbol local && (local.RefKind != RefKind.None || KnownTypes.IsRaw(local.Type)));
}
