using System.Collections.Concurrent;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// The types of the compilation that own buffers: their <c>Dispose</c> certainly disposes a member that has one, and nothing else ever
/// replaces it. Objects that count references, or have a flag for whether they own, do not own.
/// </summary>
internal sealed class OwningTypes
{
    private static readonly HashSet<ISymbol> s_none = new(SymbolEqualityComparer.Default);

    private readonly KnownTypes _types;
    private readonly MethodBodies _bodies;
    private readonly ConcurrentDictionary<INamedTypeSymbol, HashSet<ISymbol>> _members = new(SymbolEqualityComparer.Default);

    public OwningTypes(KnownTypes types, MethodBodies bodies)
    {
        _types = types;
        _bodies = bodies;
    }

    /// <summary>Returns whether values of the type own memory: those of the library, and of what holds such here.</summary>
    public bool IsBuffer(ITypeSymbol? type) => type is not null && (_types.IsBuffer(type) || IsOwning(type));

    /// <summary>Returns whether the type is one of the compilation that owns what its members hold.</summary>
    public bool IsOwning(ITypeSymbol? type) => type is INamedTypeSymbol named && MembersOf(named).Count > 0;

    /// <summary>Returns whether a field, a property or a parameter of the primary constructor is disposed with its object.</summary>
    public bool Owns(INamedTypeSymbol? type, ISymbol member) => type is not null && MembersOf(type).Contains(member.OriginalDefinition);

    /// <summary>Returns whether a constructor puts its argument into a member that the object owns.</summary>
    public bool Takes(IParameterSymbol parameter) => Takes(parameter, new HashSet<ISymbol>(SymbolEqualityComparer.Default));

    // In code that does not compile, constructors may call each other in a circle.
    private bool Takes(IParameterSymbol parameter, HashSet<ISymbol> asked)
    {
        IParameterSymbol definition = parameter.OriginalDefinition;
        if (!asked.Add(definition) || definition.ContainingSymbol is not IMethodSymbol { MethodKind: MethodKind.Constructor } constructor
            || MembersOf(constructor.ContainingType) is not { Count: > 0 } members)
        {
            return false;
        }

        return members.Contains(definition)
            || Initializers(constructor).Any(value => IsParameter(value, definition))
            || (PrimaryConstructor.Declares(constructor, _bodies) && PrimaryConstructor.PropertyOf(definition) is { } property
                && members.Contains(property))
            || (_bodies.Of(constructor) is { } body && body.References(definition).Any(reference =>
                IsTakenAt(reference, members) || (reference.Parent is IArgumentOperation
                {
                    Parameter: { } passed, Parent: IInvocationOperation { TargetMethod.MethodKind: MethodKind.Constructor },
                } && Takes(passed, asked))));
    }

    /// <summary>Returns whether a field is a span that its ref struct, which owns, somewhere sets to the memory of a buffer.</summary>
    public bool Shows(ISymbol member) => member is IFieldSymbol { ContainingType: { IsRefLikeType: true } type, Type.IsRefLikeType: true }
        && IsOwning(type) && type.GetMembers().OfType<IMethodSymbol>().Any(method => _bodies.Of(method) is { } body
            && body.Root.Descendants().Any(part => part is ISimpleAssignmentOperation { Target: IFieldReferenceOperation set } assignment
                && SymbolEqualityComparer.Default.Equals(set.Field.OriginalDefinition, member.OriginalDefinition)
                && IsOfBuffer(assignment.Value)));

    // `owner.Memory.Span.Slice(1)`.
    private bool IsOfBuffer(IOperation view) => view.Strip() switch
    {
        IPropertyReferenceOperation { Instance: { } whole } => IsBuffer(whole.Type) || IsOfBuffer(whole),
        IInvocationOperation { Instance: { } whole } => IsBuffer(whole.Type) || IsOfBuffer(whole),
        _ => false,
    };

    /// <summary>Returns the initial values of owned members at their declarations, for the primary or only constructor.</summary>
    public IEnumerable<IOperation> Initializers(IMethodSymbol constructor)
    {
        if (constructor.ContainingType.InstanceConstructors.Length > 1 && !PrimaryConstructor.Declares(constructor, _bodies))
        {
            yield break;
        }

        foreach (ISymbol member in MembersOf(constructor.ContainingType))
        {
            EqualsValueClauseSyntax? initializer = _bodies.DeclarationOf(member) switch
            {
                VariableDeclaratorSyntax field => field.Initializer,
                PropertyDeclarationSyntax property => property.Initializer,
                _ => null,
            };
            if (initializer is not null
                && _bodies.ModelOf(initializer.SyntaxTree).GetOperation(initializer.Value) is { } value)
            {
                yield return value;
            }
        }
    }

    /// <summary>Returns whether the property has a field of its own, and nothing else.</summary>
    public static bool IsAutomatic(ISymbol member) => member is IPropertySymbol
        && member.ContainingType.GetMembers().Any(other => other is IFieldSymbol { AssociatedSymbol: { } property }
            && SymbolEqualityComparer.Default.Equals(property, member))
        && !member.DeclaringSyntaxReferences.Any(reference => reference.GetSyntax() is PropertyDeclarationSyntax declaration
            && HasCode(declaration));

    // An accessor with the keyword `field` may make a copy.
    private static bool HasCode(PropertyDeclarationSyntax property) => property.ExpressionBody is not null
        || property.AccessorList?.Accessors.Any(accessor => accessor.Body is not null || accessor.ExpressionBody is not null) == true;

    /// <summary>Returns what runs when a property is read or written, or when its reference is used.</summary>
    public static IMethodSymbol? Accessor(IPropertySymbol property, bool isWritten) =>
        isWritten && !property.ReturnsByRef ? property.SetMethod : property.GetMethod;

    private static bool IsParameter(IOperation value, IParameterSymbol parameter) =>
        (value.Strip() is ICoalesceOperation { WhenNull: var other } coalesce && other.Strip() is IThrowOperation
            ? coalesce.Value : value).ReferencedVariable() is { } variable && SymbolEqualityComparer.Default.Equals(variable, parameter);

    private static bool IsTakenAt(IOperation reference, HashSet<ISymbol> members)
    {
        IOperation value = reference;
        while (value.Parent is IConversionOperation or ICoalesceOperation { WhenNull: IConversionOperation or IThrowOperation })
        {
            value = value.Parent;
        }

        return value.Parent is ISimpleAssignmentOperation assignment
            && assignment.Target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation } target
            && members.Contains(target.Member.OriginalDefinition);
    }

    /// <summary>Returns the fields, properties and parameters of the primary constructor that are disposed with their object.</summary>
    public HashSet<ISymbol> MembersOf(INamedTypeSymbol type)
    {
        INamedTypeSymbol definition = type.OriginalDefinition;
        return definition.DeclaringSyntaxReferences.IsEmpty ? s_none
            : _members.TryGetValue(definition, out HashSet<ISymbol>? members) ? members
            : Find(definition, new Question<INamedTypeSymbol, HashSet<ISymbol>>(_members, SymbolEqualityComparer.Default));
    }

    private HashSet<ISymbol> Find(INamedTypeSymbol type, Question<INamedTypeSymbol, HashSet<ISymbol>> asking)
    {
        if (type is not { TypeKind: TypeKind.Class or TypeKind.Struct })
        {
            return s_none;
        }

        return asking.Ask(type, s_none, () =>
        {
            HashSet<ISymbol> found = new(SymbolEqualityComparer.Default);
            IMethodSymbol[] disposes = DisposesOf(type);
            if (disposes.Length == 1)
            {
                AddDisposed(disposes[0], new Disposal(type, found, asking));
            }

            return found;
        });
    }

    // A second `Dispose`, for `using` alone or asynchronous, may do something else.
    private static IMethodSymbol[] DisposesOf(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? current = type; current is not null; current = current.BaseType?.OriginalDefinition)
        {
            IMethodSymbol[] disposes =
            [
                .. current.GetMembers("Dispose").Concat(current.GetMembers("System.IDisposable.Dispose")).OfType<IMethodSymbol>()
                    .Where(method => method is { Parameters.Length: 0, IsStatic: false, IsAbstract: false }),
            ];
            if (!current.GetMembers("DisposeAsync").IsEmpty)
            {
                return [];
            }

            if (disposes.Length > 0)
            {
                return disposes;
            }
        }

        return [];
    }

    private void AddDisposed(IMethodSymbol method, Disposal disposal)
    {
        if (!disposal.Methods.Add(method) || _bodies.Of(method) is not { } body
            || body.Returns.Any(returning => returning.Syntax is ReturnStatementSyntax && !Certainty.IsGuarded(returning, body)))
        {
            return;
        }

        foreach (IInvocationOperation call in body.Root.Descendants().OfType<IInvocationOperation>())
        {
            bool isDispose = call.TargetMethod is { Name: "Dispose", Parameters.Length: 0 };
            if (!Certainty.IsCertain(call, body, inLoops: isDispose))
            {
                continue;
            }

            if (isDispose && MemberBehind(call.Instance, body, new HashSet<ISymbol>(SymbolEqualityComparer.Default)) is { } member)
            {
                if (TypeOf(member) is { } type && (CollectedType.ItemOf(type) ?? type) is var owned
                    && (_types.IsBuffer(owned) || IsOwning(owned, disposal.Asking)) && MemberWrites.AreByType(member))
                {
                    disposal.Members.Add(member.OriginalDefinition);
                }
            }
            else if (call is { Instance: IInstanceReferenceOperation, TargetMethod: { Name: "Dispose" } or { Parameters.Length: 0 } })
            {
                IMethodSymbol called = call.TargetMethod.OriginalDefinition;
                AddDisposed(call.IsVirtual ? OverrideIn(disposal.Type, called) : called, disposal);
            }
        }
    }

    /// <summary>Returns which method an object of the type runs for a call of a method that may be overridden.</summary>
    public static IMethodSymbol OverrideIn(INamedTypeSymbol type, IMethodSymbol method)
    {
        for (INamedTypeSymbol? current = type; current is not null; current = current.BaseType?.OriginalDefinition)
        {
            foreach (ISymbol member in current.GetMembers(method.Name))
            {
                for (IMethodSymbol? one = member as IMethodSymbol; one is not null; one = one.OverriddenMethod?.OriginalDefinition)
                {
                    if (SymbolEqualityComparer.Default.Equals(one, method))
                    {
                        return (IMethodSymbol)member;
                    }
                }
            }
        }

        return method;
    }

    private bool IsOwning(ITypeSymbol type, Question<INamedTypeSymbol, HashSet<ISymbol>> asking) =>
        type is INamedTypeSymbol { OriginalDefinition: { DeclaringSyntaxReferences.IsEmpty: false } definition }
        && Find(definition, asking).Count > 0;

    /// <summary>What one type disposes, the methods of it that were read for that, and the question that it belongs to.</summary>
    private sealed class Disposal(
        INamedTypeSymbol type, HashSet<ISymbol> members, Question<INamedTypeSymbol, HashSet<ISymbol>> asking)
    {
        public INamedTypeSymbol Type { get; } = type;

        public HashSet<ISymbol> Members { get; } = members;

        public Question<INamedTypeSymbol, HashSet<ISymbol>> Asking { get; } = asking;

        public HashSet<ISymbol> Methods { get; } = new(SymbolEqualityComparer.Default);
    }

    private static ITypeSymbol? TypeOf(ISymbol member) => member switch
    {
        IFieldSymbol field => field.Type,
        IPropertySymbol property => property.Type,
        IParameterSymbol parameter => parameter.Type,
        _ => null,
    };

    private static ISymbol? MemberBehind(IOperation? value, MethodBody body, HashSet<ISymbol> followed)
    {
        switch (value?.Strip())
        {
            case IConditionalAccessInstanceOperation access:
                IOperation? around = access.Parent;
                while (around is not (null or IConditionalAccessOperation))
                {
                    around = around.Parent;
                }

                return MemberBehind((around as IConditionalAccessOperation)?.Operation, body, followed);
            case IFieldReferenceOperation { Instance: IInstanceReferenceOperation } field:
                return field.Field;
            case IPropertyReferenceOperation { Instance: IInstanceReferenceOperation, Property: var property } when IsAutomatic(property):
                return property;
            case IParameterReferenceOperation { Parameter: var parameter }:
                return parameter.ContainingSymbol is IMethodSymbol { MethodKind: MethodKind.Constructor } ? parameter : null;
            case ILocalReferenceOperation { Local: var local } when followed.Add(local):
                return MemberBehind(body.OnlyValue(local) ?? CollectedType.LoopOver(local, body)?.Collection, body, followed);
            case IArrayElementReferenceOperation element:
                return MemberBehind(element.ArrayReference, body, followed);
            case IPropertyReferenceOperation { Instance: { } collection, Property: { Name: "Values" } or { IsIndexer: true } }
                when CollectedType.ItemOf(collection.Type) is not null:
                return MemberBehind(collection, body, followed);
            case IInvocationOperation { TargetMethod: { Name: "Exchange", ContainingType.Name: "Interlocked" } } exchange:
                return MemberBehind(exchange.Arguments[0].Value, body, followed);
            default:
                return null;
        }
    }
}
