using System.Collections.Concurrent;

namespace Allocator.Analyzers.Summaries;

/// <summary>Where objects of the compilation keep their constructors' arguments, if nothing else is ever put there.</summary>
internal sealed class HolderTable
{
    private readonly MethodBodies _bodies;
    private readonly ConcurrentDictionary<IParameterSymbol, HashSet<ISymbol>> _members = new(SymbolEqualityComparer.Default);

    public HolderTable(MethodBodies bodies) => _bodies = bodies;

    /// <summary>Returns where an object of the type has what a parameter of its constructor was given.</summary>
    public Slot SlotOf(INamedTypeSymbol type, IParameterSymbol? parameter) => parameter is null
        ? new Slot(type.OriginalDefinition, null, None())
        : new Slot(type.OriginalDefinition, parameter.OriginalDefinition, MembersOf(parameter.OriginalDefinition));

    /// <summary>Returns the place into which a constructor puts its argument; null if that is not certain.</summary>
    public Slot? SlotIn(IObjectCreationOperation creation, IParameterSymbol parameter, Func<ISymbol, Slot?, Passing> passingOf) =>
        creation.Type is INamedTypeSymbol { DeclaringSyntaxReferences.IsEmpty: false } type && !HasFinalizer(type)
        && SlotOf(type, parameter) is { IsKnown: true } slot
        && passingOf(creation.Constructor!, slot) is Passing.Borrowed or Passing.Mentioned ? slot : null;

    /// <summary>Returns whether an object has a finalizer, which may use what it holds.</summary>
    public static bool HasFinalizer(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? current = type; current is not null; current = current.BaseType)
        {
            if (current.SpecialType != SpecialType.System_Object && current.GetMembers("Finalize").OfType<IMethodSymbol>().Any())
            {
                return true;
            }
        }

        return false;
    }

    private static HashSet<ISymbol> None() => new(SymbolEqualityComparer.Default);

    private HashSet<ISymbol> MembersOf(IParameterSymbol parameter) => _members.GetOrAdd(parameter, one =>
    {
        HashSet<ISymbol> found = None();
        Find(one, found, None());
        return found.All(member => MemberWrites.AreByConstructor(member, member.ContainingType.OriginalDefinition)) ? found : None();
    });

    private void Find(IParameterSymbol parameter, HashSet<ISymbol> found, HashSet<ISymbol> asked)
    {
        if (!asked.Add(parameter) || parameter.ContainingSymbol is not IMethodSymbol { MethodKind: MethodKind.Constructor } constructor
            || constructor.ContainingType.IsRefLikeType)
        {
            return;
        }

        if (PrimaryConstructor.Declares(constructor, _bodies))
        {
            FindOfPrimary(parameter, found);
        }

        foreach (IOperation reference in _bodies.Of(constructor)?.References(parameter) ?? [])
        {
            IOperation value = EndOfView(reference);
            if (value.Parent is ISimpleAssignmentOperation assignment && assignment.Value == value
                && assignment.Target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation, Member: var member })
            {
                found.Add(member.OriginalDefinition);
            }
            else if (value.Parent is IArgumentOperation { Parameter: { } passed, Parent: IInvocationOperation called }
                && called.TargetMethod.MethodKind == MethodKind.Constructor)
            {
                Find(passed.OriginalDefinition, found, asked);
            }
        }
    }

    private void FindOfPrimary(IParameterSymbol parameter, HashSet<ISymbol> found)
    {
        ISymbol? property = PrimaryConstructor.PropertyOf(parameter);
        if (property is not null)
        {
            found.Add(property.OriginalDefinition);
            return;
        }

        found.Add(parameter);
        foreach (ISymbol member in parameter.ContainingType.GetMembers())
        {
            EqualsValueClauseSyntax? initializer = _bodies.DeclarationOf(member) switch
            {
                VariableDeclaratorSyntax field => field.Initializer,
                PropertyDeclarationSyntax automatic => automatic.Initializer,
                _ => null,
            };
            if (initializer is not null && initializer.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
                name => name.Identifier.ValueText == parameter.Name))
            {
                found.Add(member.OriginalDefinition);
            }
        }
    }

    // Looks through operations that take the memory of an owner, or a part of it.
    private static IOperation EndOfView(IOperation reference)
    {
        IOperation value = reference;
        while (value.Parent is IConversionOperation or ICoalesceOperation { WhenNull: IConversionOperation or IThrowOperation }
            or IPropertyReferenceOperation { Property.Name: "Memory", Arguments.IsEmpty: true }
            || (value.Parent is IInvocationOperation { TargetMethod: { Name: "Slice", ContainingType: { Name: var type } } } call
                && type is "Memory" or "ReadOnlyMemory" && call.Instance == value))
        {
            value = value.Parent!;
        }

        return value;
    }
}
