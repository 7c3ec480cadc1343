using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;

namespace Allocator.Analyzers.Summaries;

/// <summary>The methods of an assembly that override or implement another one of it, found once for all.</summary>
internal sealed class OverrideTable
{
    private readonly Dictionary<IMethodSymbol, List<IMethodSymbol>> _overriding = new(SymbolEqualityComparer.Default);

    public OverrideTable(IAssemblySymbol assembly) => Add(assembly.GlobalNamespace);

    /// <summary>Returns what overrides or implements a method directly.</summary>
    public IReadOnlyList<IMethodSymbol> Of(IMethodSymbol method) =>
        _overriding.TryGetValue(method, out List<IMethodSymbol>? overriding) ? overriding : [];

    private void Add(INamespaceOrTypeSymbol container)
    {
        foreach (ISymbol member in container.GetMembers())
        {
            if (member is INamespaceOrTypeSymbol inner)
            {
                Add(inner);
            }
            else if (member is IMethodSymbol { OverriddenMethod: { } overridden } method)
            {
                Add(overridden, method);
            }
        }

        if (container is INamedTypeSymbol { TypeKind: TypeKind.Class or TypeKind.Struct } type)
        {
            AddImplementations(type);
        }
    }

    private void AddImplementations(INamedTypeSymbol type)
    {
        foreach (INamedTypeSymbol implemented in type.AllInterfaces)
        {
            if (!SymbolEqualityComparer.Default.Equals(implemented.ContainingAssembly, type.ContainingAssembly))
            {
                continue;
            }

            foreach (ISymbol member in implemented.GetMembers())
            {
                if (member is IMethodSymbol { IsStatic: false } promised
                    && type.FindImplementationForInterfaceMember(promised) is IMethodSymbol method)
                {
                    Add(promised, method);
                }
            }
        }
    }

    private void Add(IMethodSymbol overridden, IMethodSymbol method)
    {
        IMethodSymbol definition = overridden.OriginalDefinition;
        IMethodSymbol own = MethodBodies.DefinitionOf(method);
        if (!_overriding.TryGetValue(definition, out List<IMethodSymbol>? overriding))
        {
            _overriding.Add(definition, overriding = []);
        }

        if (!overriding.Contains(own, SymbolEqualityComparer.Default))
        {
            overriding.Add(own);
        }
    }
}
