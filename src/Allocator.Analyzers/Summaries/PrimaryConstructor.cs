namespace Allocator.Analyzers.Summaries;

/// <summary>What happens to the parameters of records and primary constructors.</summary>
internal static class PrimaryConstructor
{
    /// <summary>Returns whether the constructor is declared in the header of its type.</summary>
    public static bool Declares(IMethodSymbol constructor, MethodBodies bodies) =>
        bodies.DeclarationOf(constructor) is TypeDeclarationSyntax;

    /// <summary>Returns the property that a record makes of a parameter, at the parameter's place, or null.</summary>
    public static IPropertySymbol? PropertyOf(IParameterSymbol parameter) => !parameter.ContainingType.IsRecord ? null
        : parameter.ContainingType.GetMembers(parameter.Name).OfType<IPropertySymbol>().FirstOrDefault(
            property => property.DeclaringSyntaxReferences.Any(reference => reference.GetSyntax() is ParameterSyntax));

    /// <summary>Returns whether the new object holds the argument.</summary>
    public static Passing PassingOf(IParameterSymbol parameter, MethodBodies bodies)
    {
        if (PropertyOf(parameter) is not null)
        {
            return Passing.Held;
        }

        // A partial type has several parts, one of which has the parameters.
        Passing passing = Passing.Borrowed;
        foreach (SyntaxNode part in parameter.ContainingType.DeclaringSyntaxReferences.Select(reference => reference.GetSyntax()))
        {
            foreach (IdentifierNameSyntax name in part.DescendantNodes().OfType<IdentifierNameSyntax>())
            {
                if (name.Identifier.ValueText == parameter.Name
                    && SymbolEqualityComparer.Default.Equals(bodies.ModelOf(part.SyntaxTree).GetSymbolInfo(name).Symbol, parameter))
                {
                    Passing here = PassingAt(name, part);
                    passing = here == Passing.Escapes || passing == Passing.Escapes ? Passing.Escapes
                        : here == Passing.Held ? Passing.Held
                        : passing;
                }
            }
        }

        return passing;
    }

    private static Passing PassingAt(IdentifierNameSyntax name, SyntaxNode type)
    {
        if (name.Ancestors().TakeWhile(node => node != type).OfType<BaseListSyntax>().Any())
        {
            return Passing.Escapes;
        }

        bool isInitializer = !name.Ancestors().TakeWhile(node => node != type).Any(
            node => node is BaseMethodDeclarationSyntax or AccessorDeclarationSyntax or ArrowExpressionClauseSyntax);
        return !isInitializer || name.Parent is EqualsValueClauseSyntax ? Passing.Held
            : name.Parent is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Length" or "Width" or "Height" } ? Passing.Borrowed
            : Passing.Escapes;
    }
}
