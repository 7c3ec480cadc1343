using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Summaries;

/// <summary>Where the source gives a field or a property another value.</summary>
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

    private static bool IsHarmless(IdentifierNameSyntax name)
    {
        SyntaxNode node = name.Parent is MemberAccessExpressionSyntax access && access.Name == name ? access : name;
        if (node.FirstAncestorOrSelf<ConstructorDeclarationSyntax>() is not null)
        {
            return true;
        }

        bool isWritten = node.Parent switch
        {
            AssignmentExpressionSyntax assignment => assignment.Left == node && assignment.Parent is not InitializerExpressionSyntax,
            ArgumentSyntax { RefKindKeyword.RawKind: not 0 } => true,
            ArgumentSyntax { Parent: TupleExpressionSyntax { Parent: AssignmentExpressionSyntax whole } left } => whole.Left == left,
            _ => false,
        };
        return !isWritten || IsCleared(node);
    }

    /// <summary>Returns whether a member is only ever set to null or its default.</summary>
    public static bool IsCleared(SyntaxNode name) => name.Parent switch
    {
        AssignmentExpressionSyntax assignment when assignment.Left == name => IsNothing(assignment.Right),
        ArgumentSyntax { RefKindKeyword.RawKind: not 0, Parent: ArgumentListSyntax { Arguments: { Count: 2 } given } } =>
            IsNothing(given[1].Expression),
        ArgumentSyntax { Parent: TupleExpressionSyntax { Parent: AssignmentExpressionSyntax whole } left } argument
            when whole.Left == left => whole.Right is TupleExpressionSyntax values
                && IsNothing(values.Arguments[left.Arguments.IndexOf(argument)].Expression),
        _ => false,
    };

    private static bool IsNothing(ExpressionSyntax value) =>
        value.RawKind is (int)SyntaxKind.NullLiteralExpression
            or (int)SyntaxKind.DefaultLiteralExpression
        || (value is PostfixUnaryExpressionSyntax { Operand: var operand } && IsNothing(operand));
}
