using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>Assignments, and stores that outlive the body.</summary>
internal sealed partial class Evaluator
{
    private const int StoreLimit = 64;

    private Holding EvaluateAssignment(ISimpleAssignmentOperation assignment)
    {
        Holding value = Evaluate(assignment.Value, asLocation: assignment.IsRef);
        if (assignment.IsRef)
        {
            // From now on the variable can also be reached by the reference.
            Escape(value);
        }

        Assign(assignment.Target, value, assignment.IsRef);
        return value;
    }

    private void Assign(IOperation target, Holding value, bool isRef)
    {
        switch (target)
        {
            case ILocalReferenceOperation { IsDeclaration: false } when !isRef
                && target.IsRefLocal()
                && _variables.TryGet(target, out int referring):
                Touch(target, State[referring]);
                Escape(value);
                return;
            case ILocalReferenceOperation or IParameterReferenceOperation when _variables.TryGet(target, out int variable):
                AssignVariable(target, variable, value);
                return;
            case IFlowCaptureReferenceOperation capture when _variables.TryGetCopied(capture.Id, out int copied):
                AssignVariable(target, copied, value);
                return;
            case IDeclarationExpressionOperation declaration:
                Assign(declaration.Expression, value, isRef);
                return;
            case IDiscardOperation:
                return;
            default:
                AssignElsewhere(target, value);
                return;
        }
    }

    private void AssignVariable(IOperation target, int variable, Holding value)
    {
        if (target is IParameterReferenceOperation { Parameter: { RefKind: RefKind.Out or RefKind.Ref } parameter })
        {
            NoteStore(target, parameter, value);
        }

        if (_variables.IsShared(variable))
        {
            Escape(value);
        }
        else if (_variables.IsCaptured(variable))
        {
            State.Reachable |= value.Keep;
        }

        State[variable] = value;
    }

    private void AssignElsewhere(IOperation target, Holding value)
    {
        if (AssignElement(target, value))
        {
            return;
        }

        if (target is IPropertyReferenceOperation { Property: var property } && !_members.IsKnown(property))
        {
            ForgetStoresBy(property);
        }

        if (target is IMemberReferenceOperation { Member: var member, Instance: var instance })
        {
            if (AssignInside(target, member, instance, value))
            {
                return;
            }

            ForgetStoresTo(member);
            if (IsPlainOfAnyObject(member) && instance is (null or IInstanceReferenceOperation))
            {
                NoteStore(target, member, value);
            }
        }

        Escape(value);
        Holding place = Evaluate(target, asLocation: true);
        Touch(target, place);
    }

    // The field of a ref struct in a variable, or a member that an object initializer sets.
    private bool AssignInside(IOperation target, ISymbol member, IOperation? instance, Holding value)
    {
        if (instance is null || !_variables.TryGet(instance, out int variable) || _variables.IsShared(variable))
        {
            return false;
        }

        if (value.Keep == 0 && _body.Known.IsRaw(instance.Type)
            && instance is ILocalReferenceOperation or IFlowCaptureReferenceOperation
            && member is IFieldSymbol or IPropertySymbol { ReturnsByRef: false, ReturnsByRefReadonly: false })
        {
            AssignSpan(target, member, variable, value);
            return true;
        }

        if (instance is IFlowCaptureReferenceOperation && IsPlainMember(member) && IsInInitializer(target))
        {
            State[variable] |= Hold(value.Keep, value.Own);
            return true;
        }

        return false;
    }

    // Such a member keeps the value that it is given, and does nothing else with it.
    private static bool IsPlainMember(ISymbol member) => member is IFieldSymbol || OwningTypes.IsAutomatic(member);

    // In a derived type the member may have code; an initializer knows the type of its object.
    private static bool IsPlainOfAnyObject(ISymbol member) => member is { IsVirtual: false, IsOverride: false } && IsPlainMember(member);

    private static bool IsInInitializer(IOperation target) => target.Syntax.Parent?.Parent is InitializerExpressionSyntax;

    // The only span of a ref struct is replaced. If it has several spans, what the struct showed is not followed any more.
    private void AssignSpan(IOperation target, ISymbol member, int variable, Holding value)
    {
        Holding shown = State[variable];
        bool isSpan = _body.Known.IsRaw(target.Type);
        bool isOnly = isSpan && IsPlainMember(member) && !member.ContainingType.DeclaringSyntaxReferences.IsEmpty
            && member.ContainingType.GetMembers().Count(other => other is IFieldSymbol { IsStatic: false } field
                && (field.RefKind != RefKind.None || _body.Known.IsRaw(field.Type))) == 1;
        State.Escaped |= !isSpan || isOnly || IsInInitializer(target) ? 0 : shown.Raw & ~value.Raw;
        State[variable] = new Holding(
            shown.Own, shown.Memory, isOnly ? value.Raw : shown.Raw | value.Raw, shown.Uncertain, shown.Held);
    }

    private void NoteStore(IOperation target, ISymbol symbol, Holding value, bool isOneOfMany = false)
    {
        if (!isOneOfMany)
        {
            ForgetStoresTo(symbol);
        }

        ulong sites = value.Memory & ~value.Own & ~State.OwnerEscaped;
        if (sites == 0)
        {
            return;
        }

        if (!_storeNumbers.TryGetValue(target, out int number))
        {
            if (Stores.Count == StoreLimit)
            {
                return;
            }

            number = Stores.Count;
            _storeNumbers.Add(target, number);
            Stores.Add(new Store(target, symbol, sites));
        }

        Stores[number] = new Store(target, symbol, Stores[number].Sites | sites);
        State.Store(1UL << number);
    }

    // Code that is not visible may overwrite any field.
    private void ForgetStores() => State.Overwrite(ulong.MaxValue);

    private void ForgetStoresBy(IPropertySymbol property)
    {
        if (Stores.Count > 0 && !IsPlainOfAnyObject(property))
        {
            ForgetStores();
        }
    }

    private void ForgetStoresTo(ISymbol symbol)
    {
        for (int i = 0; i < Stores.Count; i++)
        {
            if (SymbolEqualityComparer.Default.Equals(Stores[i].Target, symbol))
            {
                State.Overwrite(1UL << i);
            }
        }
    }
}
