namespace Allocator.Analyzers.Summaries;

/// <summary>
/// The types of an assembly by their base types and interfaces, found once. The overrides of a method are looked up only when they are
/// needed, which is for few methods.
/// </summary>
internal sealed class OverrideTable
{
    private readonly IAssemblySymbol _assembly;
    private readonly Dictionary<INamedTypeSymbol, List<INamedTypeSymbol>> _heirs = new(SymbolEqualityComparer.Default);

    public OverrideTable(IAssemblySymbol assembly)
    {
        _assembly = assembly;
        Add(assembly.GlobalNamespace);
    }

    /// <summary>Returns what overrides or implements a method of the assembly directly.</summary>
    public IReadOnlyList<IMethodSymbol> Of(IMethodSymbol method)
    {
        List<IMethodSymbol> overriding = [];
        foreach (INamedTypeSymbol heir in _heirs.TryGetValue(method.ContainingType, out List<INamedTypeSymbol>? heirs) ? heirs : [])
        {
            foreach (IMethodSymbol found in method.ContainingType.TypeKind == TypeKind.Interface
                ? Implementations(method, heir) : Overrides(method, heir))
            {
                IMethodSymbol own = MethodBodies.DefinitionOf(found);
                if (!overriding.Contains(own, SymbolEqualityComparer.Default))
                {
                    overriding.Add(own);
                }
            }
        }

        return overriding;
    }

    private static IEnumerable<IMethodSymbol> Overrides(IMethodSymbol method, INamedTypeSymbol heir) =>
        heir.GetMembers(method.Name).OfType<IMethodSymbol>().Where(
            member => SymbolEqualityComparer.Default.Equals(member.OverriddenMethod?.OriginalDefinition, method));

    // A type may implement an interface several times, for several types.
    private static IEnumerable<IMethodSymbol> Implementations(IMethodSymbol method, INamedTypeSymbol heir) =>
        heir.AllInterfaces
            .Where(implemented => SymbolEqualityComparer.Default.Equals(implemented.OriginalDefinition, method.ContainingType))
            .SelectMany(implemented => implemented.GetMembers(method.Name))
            .Where(promised => SymbolEqualityComparer.Default.Equals(promised.OriginalDefinition, method))
            .Select(promised => heir.FindImplementationForInterfaceMember(promised)).OfType<IMethodSymbol>();

    private void Add(INamespaceOrTypeSymbol container)
    {
        if (container is INamespaceSymbol space)
        {
            foreach (INamespaceSymbol inner in space.GetNamespaceMembers())
            {
                Add(inner);
            }
        }
        else if (container is INamedTypeSymbol { TypeKind: TypeKind.Class or TypeKind.Struct } type && HasBases(type))
        {
            AddHeir(type);
        }

        foreach (INamedTypeSymbol nested in container.GetTypeMembers())
        {
            Add(nested);
        }
    }

    // Most types have none, so the compiler need not look for them.
    private static bool HasBases(INamedTypeSymbol type) => type.DeclaringSyntaxReferences.Any(
        reference => reference.GetSyntax() is BaseTypeDeclarationSyntax { BaseList: not null });

    private void AddHeir(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? parent = type.BaseType; parent is not null; parent = parent.BaseType)
        {
            Add(parent.OriginalDefinition, type);
        }

        foreach (INamedTypeSymbol implemented in type.AllInterfaces)
        {
            Add(implemented.OriginalDefinition, type);
        }
    }

    private void Add(INamedTypeSymbol ancestor, INamedTypeSymbol type)
    {
        if (!SymbolEqualityComparer.Default.Equals(ancestor.ContainingAssembly, _assembly))
        {
            return;
        }

        if (!_heirs.TryGetValue(ancestor, out List<INamedTypeSymbol>? heirs))
        {
            _heirs.Add(ancestor, heirs = []);
        }

        if (heirs.Count == 0 || !SymbolEqualityComparer.Default.Equals(heirs[heirs.Count - 1], type))
        {
            heirs.Add(type);
        }
    }
}
