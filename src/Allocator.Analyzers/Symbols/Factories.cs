using System.Collections.Concurrent;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Symbols;

/// <summary>
/// Finds the methods whose result the caller must dispose: those that carry <c>[return: OwnedBuffer]</c>, or override or implement one
/// that does; and those whose source returns new owners only. And the <c>out</c> parameters that carry <c>[OwnedBuffer]</c>, or override
/// one that does.
/// </summary>
internal sealed class Factories
{
    private const string PoolFactory = "AsMemoryPool";

    private readonly KnownSymbols _symbols;
    private readonly KnownTypes _types;

    // Several threads use it for every call of the compilation.
    private readonly ConcurrentDictionary<IMethodSymbol, bool> _known = new(SymbolEqualityComparer.Default);

    private readonly ConcurrentDictionary<IMethodSymbol, bool> _fills = new(SymbolEqualityComparer.Default);

    private readonly ConcurrentDictionary<IMethodSymbol, int> _items = new(SymbolEqualityComparer.Default);

    private readonly ConcurrentDictionary<IParameterSymbol, bool> _handedOut = new(SymbolEqualityComparer.Default);

    public Factories(KnownSymbols symbols)
    {
        _symbols = symbols;
        _types = symbols.Types;
    }

    /// <summary>Returns whether the result is an owner, or a task that promises one; a constructor returns the object.</summary>
    public bool Contains(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        return definition.MethodKind == MethodKind.Constructor
            ? !definition.ContainingType.DeclaringSyntaxReferences.IsEmpty
                && _known.GetOrAdd(definition, one => _symbols.Origins.Makes(one))
            : definition.ReturnType is { SpecialType: SpecialType.None, TypeKind: not TypeKind.TypeParameter }
                && _known.GetOrAdd(definition, one => !_symbols.Members.IsOfBaseLibrary(one)
                    && (IsMarked(one) || _symbols.Origins.IsFactory(one)));
    }

    /// <summary>Returns whether a method makes an owner for its own object; one of a ref struct may make none.</summary>
    public bool Fills(IMethodSymbol method) => !method.IsStatic && _symbols.Owning.IsOwning(method.ContainingType)
        && _fills.GetOrAdd(method.OriginalDefinition, one => one.ContainingType.IsRefLikeType
            ? _symbols.Origins.MayFill(one) : _symbols.Origins.Fills(one));

    /// <summary>Returns whether a constructor takes over nothing, and its object owns the buffer that it gets later.</summary>
    public bool IsFilledLate(IMethodSymbol constructor) => _symbols.Owning.IsOwning(constructor.ContainingType)
        && _symbols.Summaries.Of(constructor) is Passing.Borrowed or Passing.Mentioned
        && !constructor.Parameters.Any(_symbols.Owning.Takes);

    /// <summary>Returns whether the method is marked as one whose result the caller disposes.</summary>
    public bool IsDeclared(IMethodSymbol method) => IsMarked((method.ReducedFrom ?? method).OriginalDefinition);

    /// <summary>Returns which part of the tuple that a method returns, or promises, is a new owner; -1 if none is.</summary>
    public int ItemOf(IMethodSymbol method) => (_types.ResultOfTask(method.ReturnType) ?? method.ReturnType).IsTupleType
        ? _items.GetOrAdd(method.OriginalDefinition, one => _symbols.Origins.FreshItem(one)) : -1;

    /// <summary>
    /// Returns whether a call rents from <c>AsMemoryPool</c> of the allocator, or is one of a lambda that makes owners and is all that its
    /// variable ever has.
    /// </summary>
    public bool IsRent(IInvocationOperation call)
    {
        if (LambdaOf(call) is { } lambda)
        {
            return _symbols.Origins.IsFactory(lambda);
        }

        if (call is not { TargetMethod: { Name: "Rent", ContainingType.Name: "MemoryPool" }, Instance: { } instance })
        {
            return false;
        }

        ISymbol? pool = instance.Strip() switch
        {
            ILocalReferenceOperation { Local: var local } => local,
            IFieldReferenceOperation { Field: { IsReadOnly: true } field } => field,
            _ => null,
        };
        return instance.Strip() is IInvocationOperation { TargetMethod: { Name: PoolFactory } made }
            ? _symbols.Members.IsOfAllocator(made)
            : pool?.DeclaringSyntaxReferences.FirstOrDefault()?.GetSyntax() is VariableDeclaratorSyntax
            {
                Initializer.Value: InvocationExpressionSyntax
                {
                    Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: PoolFactory },
                },
            };
    }

    /// <summary>Returns the lambda of a buffer's type that a call runs, if it is all that its variable ever has; or null.</summary>
    public IAnonymousFunctionOperation? LambdaOf(IInvocationOperation call) =>
        call is { TargetMethod.MethodKind: MethodKind.DelegateInvoke, Type: { } type } && _symbols.Owning.IsBuffer(type)
            ? LambdaIn(call.Instance?.Strip()) : null;

    private IAnonymousFunctionOperation? LambdaIn(IOperation? variable)
    {
        ISymbol? symbol = variable switch
        {
            ILocalReferenceOperation { Local: var local } => local,
            IFieldReferenceOperation { Field: { IsReadOnly: true, IsStatic: true } field } => field,
            _ => null,
        };
        if (symbol is null || _symbols.Bodies.DeclarationOf(symbol) is not VariableDeclaratorSyntax declared
            || declared.Initializer?.Value is not AnonymousFunctionExpressionSyntax lambda)
        {
            return null;
        }

        // The statements of a program, and those of a `switch`, have no block around them.
        SyntaxNode? scope = declared.Parent?.Parent?.Parent;
        scope = scope is GlobalStatementSyntax or SwitchSectionSyntax ? scope.Parent : scope;
        bool isOnly = symbol is IFieldSymbol || scope?.DescendantNodes().Any(node => IsWritten(node, symbol.Name)) == false;
        return isOnly ? _symbols.Bodies.ModelOf(lambda.SyntaxTree).GetOperation(lambda) as IAnonymousFunctionOperation : null;
    }

    private static bool IsWritten(SyntaxNode node, string name) => node switch
    {
        AssignmentExpressionSyntax { Left: IdentifierNameSyntax left } => left.Identifier.ValueText == name,
        ArgumentSyntax { RefKindKeyword.RawKind: not 0, Expression: IdentifierNameSyntax given } => given.Identifier.ValueText == name,
        _ => false,
    };

    /// <summary>Gives whether the method hands out an owner by a parameter.</summary>
    public bool HandsOut(IMethodSymbol method)
    {
        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (HandsOut(parameter))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Returns whether the parameter hands out an owner.</summary>
    public bool HandsOut(IParameterSymbol? parameter)
    {
        if (parameter is not { RefKind: RefKind.Out, ContainingSymbol: IMethodSymbol method })
        {
            return false;
        }

        // An extension method that is called as a member has one parameter less.
        int fromTheEnd = method.Parameters.Length - parameter.Ordinal;
        IMethodSymbol? current = (method.ReducedFrom ?? method).OriginalDefinition;
        for (; current is not null; current = current.OverriddenMethod?.OriginalDefinition)
        {
            if (Attributes.Contain(current.Parameters[current.Parameters.Length - fromTheEnd].GetAttributes(), _types.OwnedBuffer))
            {
                return true;
            }
        }

        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        return _handedOut.GetOrAdd(
            definition.Parameters[definition.Parameters.Length - fromTheEnd], one => _symbols.Origins.IsHandedOut(one));
    }

    private bool IsMarked(IMethodSymbol method)
    {
        for (IMethodSymbol? current = method; current is not null; current = current.OverriddenMethod?.OriginalDefinition)
        {
            if (HasAttribute(current) || ImplementsMarked(current))
            {
                return true;
            }
        }

        return false;
    }

    private bool ImplementsMarked(IMethodSymbol method)
    {
        if (method.IsStatic || method.ContainingType is not { TypeKind: TypeKind.Class or TypeKind.Struct } type)
        {
            return false;
        }

        foreach (INamedTypeSymbol implemented in type.AllInterfaces)
        {
            foreach (ISymbol member in implemented.GetMembers())
            {
                if (member is IMethodSymbol promised
                    && (promised.Name == method.Name || !method.ExplicitInterfaceImplementations.IsEmpty)
                    && HasAttribute(promised.OriginalDefinition)
                    && type.FindImplementationForInterfaceMember(promised) is { } implementation
                    && SymbolEqualityComparer.Default.Equals(implementation.OriginalDefinition, method))
                {
                    return true;
                }
            }
        }

        return false;
    }

    private bool HasAttribute(IMethodSymbol method) =>
        Attributes.Contain(method.GetReturnTypeAttributes(), _types.OwnedBuffer)
        || (method.PartialDefinitionPart is { } definition
            && Attributes.Contain(definition.GetReturnTypeAttributes(), _types.OwnedBuffer));
}
