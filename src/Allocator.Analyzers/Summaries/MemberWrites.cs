using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Summaries;

/// <summary>Finds where the source assigns a field or a property.</summary>
internal static class MemberWrites
{
    /// <summary>Returns whether only the constructor gives a member a value, and later code at most null.</summary>
    public static bool AreByConstructor(ISymbol member, INamedTypeSymbol type)
    {
        return AreByType(member) && type.DeclaringSyntaxReferences.All(reference => reference.GetSyntax().DescendantNodes()
            .OfType<IdentifierNameSyntax>().All(name => name.Identifier.ValueText != member.Name || IsHarmless(name)));
    }

    /// <summary>Returns whether nothing but the type itself can give a member a value, once the object is made.</summary>
    public static bool AreByType(ISymbol member) => member switch
    {
        IFieldSymbol field => field.IsReadOnly || field.DeclaredAccessibility == Accessibility.Private,
        IPropertySymbol { IsVirtual: false, IsOverride: false, IsAbstract: false } property =>
            property.SetMethod is null or { IsInitOnly: true } or { DeclaredAccessibility: Accessibility.Private },
        _ => member is IParameterSymbol,
    };

    /// <summary>
    /// Returns whether only one body assigns a flag. If others do too, such as the constructor of an object that does not own its
    /// arguments, the flag means more than that the body has run before.
    /// </summary>
    public static bool AreIn(ISymbol flag, SyntaxNode body) => flag.ContainingType.DeclaringSyntaxReferences.All(
        reference => reference.GetSyntax().DescendantNodes().OfType<IdentifierNameSyntax>().All(
            name => name.Identifier.ValueText != flag.Name || body.Span.Contains(name.Span) || !IsWritten(AccessOf(name))));

    private static bool IsHarmless(IdentifierNameSyntax name) => AccessOf(name) is var access
        && (access.FirstAncestorOrSelf<ConstructorDeclarationSyntax>() is not null || !IsWritten(access) || IsCleared(access));

    private static SyntaxNode AccessOf(IdentifierNameSyntax name) =>
        name.Parent is MemberAccessExpressionSyntax access && access.Name == name ? access : name;

    private static bool IsWritten(SyntaxNode access) => access.Parent switch
    {
        AssignmentExpressionSyntax assignment => assignment.Left == access && assignment.Parent is not InitializerExpressionSyntax,
        ArgumentSyntax { RefKindKeyword.RawKind: not 0 } => true,
        ArgumentSyntax { Parent: TupleExpressionSyntax { Parent: AssignmentExpressionSyntax whole } left } => whole.Left == left,
        _ => false,
    };

    /// <summary>Returns whether a member is only ever set to null or its default.</summary>
    public static bool IsCleared(SyntaxNode name) => name.Parent switch
    {
        AssignmentExpressionSyntax assignment when assignment.Left == name => IsNothing(assignment.Right),
        ArgumentSyntax { RefKindKeyword.RawKind: not 0, Parent: ArgumentListSyntax { Arguments: { Count: 2 } given } } =>
            IsNothing(given[1].Expression),
        ArgumentSyntax { Parent: TupleExpressionSyntax { Parent: AssignmentExpressionSyntax whole } left } argument
            when whole.Left == left => whole.Right is TupleExpressionSyntax values
                && values.Arguments.Count == left.Arguments.Count
                && IsNothing(values.Arguments[left.Arguments.IndexOf(argument)].Expression),
        _ => false,
    };

    private static bool IsNothing(ExpressionSyntax value) =>
        value.RawKind is (int)SyntaxKind.NullLiteralExpression
            or (int)SyntaxKind.DefaultLiteralExpression
        || value is CollectionExpressionSyntax { Elements.Count: 0 }
            or InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Empty" } }
        || (value is PostfixUnaryExpressionSyntax { Operand: var operand } && IsNothing(operand));
}
