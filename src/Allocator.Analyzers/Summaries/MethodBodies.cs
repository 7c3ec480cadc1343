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

    /// <summary>Returns the definition of a called method; of a partial method the part with the body.</summary>
    public static IMethodSymbol DefinitionOf(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        return definition.PartialImplementationPart ?? definition;
    }

    /// <summary>Returns the body of a method itself, whatever overrides it; null if it has none or its source is elsewhere.</summary>
    public MethodBody? Of(IMethodSymbol method) => _bodies.GetOrAdd(DefinitionOf(method), Make);

    /// <summary>
    /// Returns the methods of the compilation that a call of <paramref name="method"/> may run instead of it: what overrides or implements
    /// it. Methods of other assemblies are not seen, so a caller relies on what the visible ones have in common.
    /// </summary>
    public IReadOnlyList<IMethodSymbol> Overriding(IMethodSymbol method) =>
        MayBeOverridden(method) && SymbolEqualityComparer.Default.Equals(method.ContainingAssembly, _compilation.Assembly)
            ? _overrides.Value.Of(DefinitionOf(method)) : [];

    /// <summary>Returns whether a call may run another method than the one that it names.</summary>
    public static bool MayBeOverridden(IMethodSymbol method) =>
        method.IsAbstract || ((method.IsVirtual || method.IsOverride) && !method.IsSealed && !method.ContainingType.IsSealed);

    /// <summary>Returns the base constructor that runs for a constructor without a body; null if it is called with arguments.</summary>
    public IMethodSymbol? UnnamedBaseOf(IMethodSymbol constructor)
    {
        BaseListSyntax? bases = (DeclarationOf(constructor) as TypeDeclarationSyntax)?.BaseList;
        return Of(constructor) is not null || bases?.Types.First() is PrimaryConstructorBaseTypeSyntax ? null
            : constructor.ContainingType.BaseType?.OriginalDefinition.InstanceConstructors.FirstOrDefault(
                one => one.Parameters.All(parameter => parameter.IsOptional));
    }

    /// <summary>Returns the declaration of a symbol, or null if it is not in this compilation.</summary>
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
