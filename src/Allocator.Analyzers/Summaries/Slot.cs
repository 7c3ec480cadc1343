namespace Allocator.Analyzers.Summaries;

/// <summary>
/// Where an object keeps what its constructor was given: the members that one parameter goes to. The object is of exactly that type.
/// </summary>
internal sealed class Slot : IEquatable<Slot>
{
    private readonly IParameterSymbol? _parameter;
    private readonly HashSet<ISymbol> _members;

    public Slot(INamedTypeSymbol type, IParameterSymbol? parameter, HashSet<ISymbol> members)
    {
        Type = type;
        _parameter = parameter;
        _members = members;
    }

    /// <summary>Gets the type of the object.</summary>
    public INamedTypeSymbol Type { get; }

    /// <summary>Gets whether it is known where in the object the buffer is.</summary>
    public bool IsKnown => _members.Count > 0;

    public IEnumerable<ISymbol> Members => _members;

    /// <summary>Returns whether a field, a property or a parameter of the primary constructor has the buffer.</summary>
    public bool Has(ISymbol member) => _members.Contains(member.OriginalDefinition);

    /// <summary>Returns the method of the object that a call of <paramref name="method"/> runs, or null if it is not found.</summary>
    public IMethodSymbol? Runs(IMethodSymbol method)
    {
        IMethodSymbol definition = method.OriginalDefinition;
        if (definition.ContainingType.TypeKind != TypeKind.Interface)
        {
            return MethodBodies.MayBeOverridden(definition) ? OwningTypes.OverrideIn(Type, definition) : definition;
        }

        foreach (INamedTypeSymbol implemented in Type.AllInterfaces)
        {
            if (SymbolEqualityComparer.Default.Equals(implemented.OriginalDefinition, definition.ContainingType))
            {
                foreach (ISymbol member in implemented.GetMembers(definition.Name))
                {
                    if (SymbolEqualityComparer.Default.Equals(member.OriginalDefinition, definition)
                        && Type.FindImplementationForInterfaceMember(member) is IMethodSymbol own)
                    {
                        return own.OriginalDefinition;
                    }
                }
            }
        }

        return null;
    }

    public bool Equals(Slot? other) => other is not null && SymbolEqualityComparer.Default.Equals(Type, other.Type)
        && SymbolEqualityComparer.Default.Equals(_parameter, other._parameter);

    public override bool Equals(object? obj) => Equals(obj as Slot);

    public override int GetHashCode() => SymbolEqualityComparer.Default.GetHashCode(Type)
        ^ (_parameter is null ? 0 : SymbolEqualityComparer.Default.GetHashCode(_parameter));
}
