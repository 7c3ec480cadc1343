using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// The types of the compilation that own buffers: their <c>Dispose</c> certainly disposes a member that has one, and nothing else ever
/// replaces it. Objects that count references, or that allocate when they are asked, are none.
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

    /// <summary>Returns whether a constructor puts what it is given where the object owns it.</summary>
    public bool Takes(IParameterSymbol parameter)
    {
        IParameterSymbol definition = parameter.OriginalDefinition;
        if (definition.ContainingSymbol is not IMethodSymbol { MethodKind: MethodKind.Constructor } constructor
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
                } && Takes(passed))));
    }

    /// <summary>Returns what owned members are given where they are declared, for the primary or only constructor.</summary>
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
    public static bool IsAutomatic(ISymbol member) => member is IPropertySymbol && member.ContainingType.GetMembers().Any(
        other => other is IFieldSymbol { AssociatedSymbol: { } property } && SymbolEqualityComparer.Default.Equals(property, member));

    /// <summary>Returns what runs where a property is read or written; of one that returns a reference the same.</summary>
    public static IMethodSymbol? Accessor(IPropertySymbol property, bool isWritten) =>
        isWritten && !property.ReturnsByRef ? property.SetMethod : property.GetMethod;

    /// <summary>Returns whether an operation runs whenever its method does, but for what is null or was done already.</summary>
    public static bool IsCertain(IOperation operation, MethodBody body)
    {
        IOperation child = operation;
        for (IOperation? parent = operation.Parent; parent is not null && child != body.Root; child = parent, parent = parent.Parent)
        {
            bool isCertain = parent switch
            {
                IConditionalOperation choice => choice.WhenTrue == child && IsGuard(choice.Condition, body),
                ITryOperation attempt => attempt.Body == child || attempt.Finally == child,
                IBlockOperation or IExpressionStatementOperation or IConditionalAccessOperation or ILockOperation or ITupleOperation
                    or IAssignmentOperation or IArgumentOperation or IInvocationOperation or IMethodBodyBaseOperation => true,
                _ => false,
            };
            if (!isCertain)
            {
                return false;
            }
        }

        return true;
    }

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

    // A test for null of what is disposed or set there, or a flag that is set to say that it was done.
    private static bool IsGuard(IOperation condition, MethodBody body) => condition.DescendantsAndSelf().All(part => part switch
    {
        IInvocationOperation { TargetMethod: { Name: "Exchange" or "CompareExchange", ContainingType.Name: "Interlocked" } } => true,
        IInvocationOperation or IIncrementOrDecrementOperation => false,
        IMemberReferenceOperation { Type: { IsReferenceType: true }, Member: var member } => IsDone(member, body),
        IMemberReferenceOperation { Member: var flag } => body.Root.Descendants().Any(
            other => other is ISimpleAssignmentOperation { Target: IMemberReferenceOperation target, Value.ConstantValue.HasValue: true }
                && SymbolEqualityComparer.Default.Equals(target.Member, flag))
            || part.Parent is IArgumentOperation,
        IParameterReferenceOperation { Parameter: var parameter } =>
            parameter.ContainingSymbol is IMethodSymbol { MethodKind: not MethodKind.Constructor },
        ILocalReferenceOperation { Type: { IsReferenceType: true }, Local: var local } => IsDone(local, body),
        ILocalReferenceOperation => false,
        _ => true,
    });

    // Another object, as a parent or a pool, says what else may happen to the buffer.
    private static bool IsDone(ISymbol variable, MethodBody body) => body.Root.Descendants().Any(other =>
        SymbolEqualityComparer.Default.Equals((other as IMemberReferenceOperation)?.Member ?? other.ReferencedVariable(), variable)
        && other.Parent is IInvocationOperation { TargetMethod.Name: "Dispose" } or IConditionalAccessOperation
            or IArgumentOperation { Parameter.RefKind: RefKind.Ref } or ISimpleAssignmentOperation or ITupleOperation
        && (other.Parent as ISimpleAssignmentOperation)?.Value != other);

    /// <summary>Returns the fields, properties and parameters of the primary constructor that are disposed with their object.</summary>
    public HashSet<ISymbol> MembersOf(INamedTypeSymbol type)
    {
        INamedTypeSymbol definition = type.OriginalDefinition;
        return definition.DeclaringSyntaxReferences.IsEmpty ? s_none
            : _members.TryGetValue(definition, out HashSet<ISymbol>? members) ? members
            : _members.GetOrAdd(definition, Find(definition, new HashSet<ISymbol>(SymbolEqualityComparer.Default)));
    }

    private HashSet<ISymbol> Find(INamedTypeSymbol type, HashSet<ISymbol> asking)
    {
        if (type is not { TypeKind: TypeKind.Class or TypeKind.Struct, IsRefLikeType: false } || !type.GetMembers("DisposeAsync").IsEmpty
            || !asking.Add(type))
        {
            return s_none;
        }

        IMethodSymbol? dispose = type.GetMembers("Dispose").OfType<IMethodSymbol>().FirstOrDefault(
            method => method is { Parameters.Length: 0, IsStatic: false, IsAbstract: false });
        HashSet<ISymbol> found = new(SymbolEqualityComparer.Default);
        if (dispose is null)
        {
            found = type.BaseType is { } parent ? Find(parent.OriginalDefinition, asking) : found;
        }
        else
        {
            AddDisposed(dispose, type, found, asking);
        }

        asking.Remove(type);
        return found;
    }

    private void AddDisposed(IMethodSymbol dispose, INamedTypeSymbol type, HashSet<ISymbol> found, HashSet<ISymbol> asking)
    {
        if (!asking.Add(dispose) || _bodies.Of(dispose) is not { } body
            || body.Returns.Any(returning => returning.Syntax is ReturnStatementSyntax && !IsGuarded(returning, body)))
        {
            return;
        }

        foreach (IInvocationOperation call in body.Root.Descendants().OfType<IInvocationOperation>())
        {
            if (call.TargetMethod.Name != "Dispose" || !IsCertain(call, body))
            {
                continue;
            }

            if (call.TargetMethod.Parameters.Length == 0 && MemberBehind(call.Instance, body) is { } member)
            {
                if (TypeOf(member) is { } owned && (_types.IsBuffer(owned) || IsOwning(owned, asking))
                    && MemberWrites.AreByConstructor(member, type))
                {
                    found.Add(member.OriginalDefinition);
                }
            }
            else if (call.Instance is IInstanceReferenceOperation { Type: INamedTypeSymbol { DeclaringSyntaxReferences.IsEmpty: false } })
            {
                AddDisposed(call.TargetMethod.OriginalDefinition, call.TargetMethod.ContainingType.OriginalDefinition, found, asking);
            }
        }
    }

    private bool IsOwning(ITypeSymbol type, HashSet<ISymbol> asking) =>
        type is INamedTypeSymbol { OriginalDefinition: { DeclaringSyntaxReferences.IsEmpty: false } definition }
        && Find(definition, asking).Count > 0;

    private static bool IsGuarded(IOperation returning, MethodBody body)
    {
        IOperation? parent = returning.Parent;
        while (parent is IBlockOperation)
        {
            parent = parent.Parent;
        }

        return parent is IConditionalOperation choice && IsGuard(choice.Condition, body);
    }

    private static ITypeSymbol? TypeOf(ISymbol member) => member switch
    {
        IFieldSymbol field => field.Type,
        IPropertySymbol property => property.Type,
        IParameterSymbol parameter => parameter.Type,
        _ => null,
    };

    private static ISymbol? MemberBehind(IOperation? value, MethodBody body)
    {
        switch (value?.Strip())
        {
            case IConditionalAccessInstanceOperation access:
                IOperation? around = access.Parent;
                while (around is not (null or IConditionalAccessOperation))
                {
                    around = around.Parent;
                }

                return MemberBehind((around as IConditionalAccessOperation)?.Operation, body);
            case IFieldReferenceOperation { Instance: IInstanceReferenceOperation } field:
                return field.Field;
            case IPropertyReferenceOperation { Instance: IInstanceReferenceOperation, Property: var property } when IsAutomatic(property):
                return property;
            case IParameterReferenceOperation { Parameter: var parameter }:
                return parameter.ContainingSymbol is IMethodSymbol { MethodKind: MethodKind.Constructor } ? parameter : null;
            case ILocalReferenceOperation { Local: var local }:
                return MemberBehind(body.OnlyValue(local), body);
            case IInvocationOperation { TargetMethod: { Name: "Exchange", ContainingType.Name: "Interlocked" } } exchange:
                return MemberBehind(exchange.Arguments[0].Value, body);
            default:
                return null;
        }
    }
}
