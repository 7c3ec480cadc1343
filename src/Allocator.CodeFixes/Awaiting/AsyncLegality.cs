using System.Reflection;

namespace Allocator.CodeFixes.Awaiting;

/// <summary>Which methods can become async and still do what they did.</summary>
internal static class AsyncLegality
{
    // This compiler has no name for it yet.
    private const LanguageVersion CSharp13 = (LanguageVersion)1300;

    /// <summary>Gets whether <paramref name="method"/> can be async and each task that it returns be awaited.</summary>
    public static bool CanBeAsync(TaskMethod method, SourceFile source) =>
        !method.Symbol.IsAsync
        && Tasks.Is(method.Symbol.ReturnType)
        && method.Symbol.Parameters.All(parameter => parameter.RefKind == RefKind.None && !Views.Is(parameter.Type))
        && !WorksOnACopyOfItself(method.Symbol)
        && (method.Symbol.MethodImplementationFlags & MethodImplAttributes.Synchronized) == 0
        && !method.Declaration.AncestorsAndSelf().Any(IsUnsafe)
        && method.Returns.All(statement => CanAwait(statement, method, source))
        && MayHaveItsViews(method, source);

    // What an async method of a struct changes in it is lost.
    private static bool WorksOnACopyOfItself(IMethodSymbol method) =>
        !method.IsStatic && method.ContainingType.IsValueType && !method.IsReadOnly;

    private static bool IsUnsafe(SyntaxNode node) => node switch
    {
        UnsafeStatementSyntax => true,
        MemberDeclarationSyntax member => member.Modifiers.Any(SyntaxKind.UnsafeKeyword),
        LocalFunctionStatementSyntax function => function.Modifiers.Any(SyntaxKind.UnsafeKeyword),
        _ => false,
    };

    private static bool CanAwait(ReturnStatementSyntax statement, TaskMethod method, SourceFile source) =>
        statement is { Expression: { } value, ContainsDirectives: false }
        && !statement.Ancestors().TakeWhile(node => node != method.Body).Any(ForbidsAwait)
        && (KnownTask.IsDefault(value)
            ? Tasks.IsValueTask(method.Symbol.ReturnType)
            : value is not ImplicitObjectCreationExpressionSyntax && Tasks.Is(source.TypeOf(value)));

    private static bool ForbidsAwait(SyntaxNode node) => node is LockStatementSyntax or UnsafeStatementSyntax or FixedStatementSyntax;

    // Before C# 13 an async method has no spans at all; since then none that is used after an await, which here can only be
    // in a `finally` or by a `using`.
    private static bool MayHaveItsViews(TaskMethod method, SourceFile source) =>
        !TaskMethod.OwnNodes(method.Body).Any(node => IsView(node, source) && (source.Language < CSharp13 || IsUsedOnTheWayOut(node)));

    private static bool IsView(SyntaxNode node, SourceFile source) => node switch
    {
        ForEachStatementSyntax loop => loop.Type is RefTypeSyntax || Views.Is(source.TypeOf(loop.Expression)),
        VariableDeclaratorSyntax or SingleVariableDesignationSyntax =>
            source.DeclaredBy(node) is ILocalSymbol local && (local.RefKind != RefKind.None || Views.Is(local.Type)),
        IdentifierNameSyntax name => IsUsedOnTheWayOut(name) && Views.Is(source.TypeOf(name)),
        _ => false,
    };

    private static bool IsUsedOnTheWayOut(SyntaxNode node) =>
        node.FirstAncestorOrSelf<FinallyClauseSyntax>() is not null
        || node.Parent?.Parent is UsingStatementSyntax or LocalDeclarationStatementSyntax { UsingKeyword.RawKind: not 0 };
}
