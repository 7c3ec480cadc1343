using System.Reflection;
using Allocator.Analyzers.Symbols;

namespace Allocator.CodeFixes.Awaiting;

/// <summary>Decides which methods can become async without changing what they do.</summary>
internal static class AsyncLegality
{
    // This compiler has no name for it yet.
    private const LanguageVersion CSharp13 = (LanguageVersion)1300;

    /// <summary>Gets whether <paramref name="method"/> can be async and each task that it returns be awaited.</summary>
    public static bool CanBeAsync(TaskMethod method, SourceFile source) =>
        !method.Symbol.IsAsync
        && Tasks.Is(method.Symbol.ReturnType)
        && method.Symbol.Parameters.All(parameter => parameter.RefKind == RefKind.None && !KnownTypes.IsRaw(parameter.Type))
        && !WorksOnACopyOfItself(method, source)
        && (method.Symbol.MethodImplementationFlags & MethodImplAttributes.Synchronized) == 0
        && !method.Declaration.AncestorsAndSelf().Any(IsUnsafe)
        && method.Returns.All(statement => CanAwait(statement, method, source))
        && MayHaveItsViews(method, source);

    // Changes that an async method of a struct makes to the struct are lost.
    private static bool WorksOnACopyOfItself(TaskMethod method, SourceFile source) =>
        method.Symbol is { IsStatic: false, IsReadOnly: false, ContainingType: { IsValueType: true, IsReadOnly: false } }
        && method.Body.DescendantNodes().OfType<ExpressionSyntax>().Any(node => node switch
        {
            ThisExpressionSyntax => node.Parent is not MemberAccessExpressionSyntax,
            IdentifierNameSyntax name => source.SymbolOf(name) is { IsStatic: false, ContainingType.IsValueType: true } member
                && SymbolEqualityComparer.Default.Equals(member.ContainingType, method.Symbol.ContainingType) && MayChange(name, member),
            _ => false,
        });

    private static bool MayChange(IdentifierNameSyntax name, ISymbol member)
    {
        ExpressionSyntax place = name.Parent is MemberAccessExpressionSyntax access && access.Name == name ? access : name;
        return member switch
        {
            // A part of it may be assigned, and one of its methods may change it.
            IFieldSymbol field => !field.IsReadOnly && (field.Type is { IsValueType: true, SpecialType: SpecialType.None }
                || Using.Assignments.IsTarget(place) || place.Parent is PostfixUnaryExpressionSyntax or PrefixUnaryExpressionSyntax),
            IPropertySymbol property => property.GetMethod is not { IsReadOnly: true } || Using.Assignments.IsTarget(place),
            IMethodSymbol { MethodKind: not MethodKind.LocalFunction } called => !called.IsReadOnly,
            IEventSymbol => true,
            _ => false,
        };
    }

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

    // Before C# 13 an async method has no spans at all. Since then none is used after an await, which can only happen here
    // in a `finally` or by a `using`.
    private static bool MayHaveItsViews(TaskMethod method, SourceFile source) =>
        !TaskMethod.OwnNodes(method.Body).Any(node => IsView(node, source) && (source.Language < CSharp13 || IsUsedOnTheWayOut(node)));

    private static bool IsView(SyntaxNode node, SourceFile source) => node switch
    {
        ForEachStatementSyntax loop => loop.Type is RefTypeSyntax || KnownTypes.IsRaw(source.TypeOf(loop.Expression)),
        VariableDeclaratorSyntax or SingleVariableDesignationSyntax =>
            source.DeclaredBy(node) is ILocalSymbol local && (local.RefKind != RefKind.None || KnownTypes.IsRaw(local.Type)),
        IdentifierNameSyntax name => IsUsedOnTheWayOut(name) && KnownTypes.IsRaw(source.TypeOf(name)),
        _ => false,
    };

    private static bool IsUsedOnTheWayOut(SyntaxNode node) =>
        node.FirstAncestorOrSelf<FinallyClauseSyntax>() is not null
        || node.Parent?.Parent is UsingStatementSyntax or LocalDeclarationStatementSyntax { UsingKeyword.RawKind: not 0 };
}
