using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Summaries;

/// <summary>The bodies of the methods whose source is in the compilation, each made once.</summary>
internal sealed class MethodBodies
{
    private readonly Compilation _compilation;
    private readonly ConcurrentDictionary<IMethodSymbol, MethodBody?> _bodies = new(SymbolEqualityComparer.Default);
    private readonly ConcurrentDictionary<SyntaxTree, SemanticModel> _models = new();

    public MethodBodies(Compilation compilation) => _compilation = compilation;

    /// <summary>Returns the body of a method that a call is certain to run, or null.</summary>
    public MethodBody? Of(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        definition = definition.PartialImplementationPart ?? definition;
        return IsCertain(definition) ? _bodies.GetOrAdd(definition, Make) : null;
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

    // What another class may override can do anything.
    private static bool IsCertain(IMethodSymbol method) => method switch
    {
        { MethodKind: MethodKind.LocalFunction or MethodKind.Constructor } => true,
        { MethodKind: MethodKind.Ordinary, IsAbstract: false, IsExtern: false } =>
            !(method.IsVirtual || method.IsOverride) || method.IsSealed || method.ContainingType.IsSealed,
        _ => false,
    };

    private MethodBody? Make(IMethodSymbol method)
    {
        IOperation? root = DeclarationOf(method) is { } syntax ? ModelOf(syntax.SyntaxTree).GetOperation(syntax) : null;
        return root is IMethodBodyBaseOperation or ILocalFunctionOperation ? new MethodBody(root) : null;
    }
}
