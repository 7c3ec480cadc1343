using System.Collections.Concurrent;

namespace Allocator.Analyzers.Summaries;

/// <summary>The bodies of the methods whose source is in the compilation, each made once.</summary>
internal sealed class MethodBodies
{
    private readonly Compilation _compilation;
    private readonly Lazy<OverrideTable> _overrides;
    private readonly ConcurrentDictionary<IMethodSymbol, MethodBody?> _bodies = new(SymbolEqualityComparer.Default);
    private readonly ConcurrentDictionary<SyntaxTree, SemanticModel> _models = new();

    public MethodBodies(Compilation compilation)
    {
        _compilation = compilation;
        _overrides = new Lazy<OverrideTable>(() => new OverrideTable(compilation.Assembly));
    }

    /// <summary>Returns the definition of the method that a call names, with the half of it that has a body.</summary>
    public static IMethodSymbol DefinitionOf(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        return definition.PartialImplementationPart ?? definition;
    }

    /// <summary>Returns the body of a method itself, whatever overrides it; null where it has none or its source is elsewhere.</summary>
    public MethodBody? Of(IMethodSymbol method) => _bodies.GetOrAdd(DefinitionOf(method), Make);

    /// <summary>
    /// Returns the methods of the compilation that a call of <paramref name="method"/> may run instead of it: what overrides or implements
    /// it. Those of other assemblies are not seen; a caller can only keep to what the ones that it can see have in common.
    /// </summary>
    public IReadOnlyList<IMethodSymbol> Overriding(IMethodSymbol method) =>
        MayBeOverridden(method) && SymbolEqualityComparer.Default.Equals(method.ContainingAssembly, _compilation.Assembly)
            ? _overrides.Value.Of(DefinitionOf(method)) : [];

    /// <summary>Returns whether a call may run another method than the one that it names.</summary>
    public static bool MayBeOverridden(IMethodSymbol method) =>
        method.IsAbstract || ((method.IsVirtual || method.IsOverride) && !method.IsSealed && !method.ContainingType.IsSealed);

    /// <summary>Returns the constructor of the base class that one without a body runs, or null where it is given arguments.</summary>
    public IMethodSymbol? UnnamedBaseOf(IMethodSymbol constructor)
    {
        BaseListSyntax? bases = (DeclarationOf(constructor) as TypeDeclarationSyntax)?.BaseList;
        return Of(constructor) is not null || bases?.Types.First() is PrimaryConstructorBaseTypeSyntax ? null
            : constructor.ContainingType.BaseType?.OriginalDefinition.InstanceConstructors.FirstOrDefault(
                one => one.Parameters.All(parameter => parameter.IsOptional));
    }

    /// <summary>Returns the declaration of what is written in this compilation, or null.</summary>
    public SyntaxNode? DeclarationOf(ISymbol symbol)
    {
        if (symbol.DeclaringSyntaxReferences.Length != 1)
        {
            return null;
        }

        SyntaxNode syntax = symbol.DeclaringSyntaxReferences[0].GetSyntax();
        return _compilation.ContainsSyntaxTree(syntax.SyntaxTree) ? syntax : null;
    }

    public SemanticModel ModelOf(SyntaxTree tree) =>
        _models.GetOrAdd(tree, one => _compilation.GetSemanticModel(one));

    private MethodBody? Make(IMethodSymbol method)
    {
        IOperation? root = DeclarationOf(method) is { } syntax ? ModelOf(syntax.SyntaxTree).GetOperation(syntax) : null;
        return root is IMethodBodyBaseOperation or ILocalFunctionOperation or { Syntax: ArrowExpressionClauseSyntax }
            ? new MethodBody(root) : null;
    }
}
