using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>What members and calls do with the value.</summary>
internal sealed partial class ValueTrace
{
    private void FollowCallOn(IInvocationOperation call, Grip grip)
    {
        if (_known.Members.IsDispose(call.TargetMethod) || _known.Members.IsHandOff(call.TargetMethod))
        {
            bool isOwner = !grip.IsHolder && !_known.Types.IsMemoryHandle(call.Instance?.Type);
            Disposes |= isOwner;
            if (grip.Slot is { } slot)
            {
                FollowBy(slot.Runs(call.TargetMethod) is { } own ? _passingOf(own, slot) : Passing.Escapes, call, grip);
            }
            else
            {
                Escapes |= grip.IsHolder && !_known.Members.IsOfBaseLibrary(call.TargetMethod);
            }

            return;
        }

        FollowOut(call);
        FollowMember(call, call.TargetMethod, grip);
    }

    private void FollowMember(IOperation access, ISymbol member, Grip grip)
    {
        if (_known.Types.IsDelegate(member.ContainingType))
        {
            // The call of a lambda, whose result is examined inside it.
            return;
        }

        if (grip.Slot is { } slot && !_known.Members.IsKnown(member))
        {
            FollowSlot(access, member, slot);
            return;
        }

        if (!grip.IsHolder && _known.Owning.IsOwning(member.ContainingType))
        {
            FollowInside(access, member);
        }
        else if (_known.Members.IsKnown(member))
        {
            bool isTouched = member is IMethodSymbol called ? !_known.Members.IsIdentity(called)
                : _known.Types.CanShow(access.Type) || (member is IPropertySymbol property && _known.Members.ThrowsOnceDisposed(property));
            if (isTouched)
            {
                Touch(access);
            }

            // `Pop` and similar methods hand out collected items.
            Escapes |= member is IMethodSymbol && CollectedType.ItemOf(member.ContainingType) is not null
                && _known.Types.CanKeep(access.Type);
            bool isFresh = member is IMethodSymbol method && (_known.Factories.Contains(method) || _known.Members.IsCopy(method));
            if (!isFresh)
            {
                bool isView = !grip.IsHolder && (_known.Types.IsMemory(access.Type) || _known.IsRaw(access.Type));
                bool isSameTask = grip.IsTask && member.Name is "ConfigureAwait" or "AsTask";
                Follow(access, isView ? Grip.Direct : isSameTask ? grip : Grip.Holder);
            }
        }
        else if (!grip.IsHolder && member.ContainingType.TypeKind == TypeKind.Interface)
        {
            FollowPromised(access, member);
        }
        else
        {
            Escapes |= member is IMethodSymbol || _known.Types.CanKeep(access.Type);
        }
    }

    // The followed value has a type of this compilation that needs disposal: use what all implementations of the interface agree on.
    private void FollowPromised(IOperation access, ISymbol member)
    {
        IMethodSymbol? promised = member is IPropertySymbol property
            ? OwningTypes.Accessor(property, IsWritten(access)) : member as IMethodSymbol;
        int seen = 0;
        bool isTouched = true;
        foreach (IMethodSymbol own in promised is null ? [] : _known.Bodies.Overriding(promised))
        {
            if (own.ContainingType.AllInterfaces.Any(one => one.SpecialType == SpecialType.System_IDisposable))
            {
                Passing passing = _passingOf(own, null);
                seen++;
                isTouched &= passing == Passing.Borrowed;
                Escapes |= passing is not (Passing.Borrowed or Passing.Mentioned);
            }
        }

        Escapes |= seen == 0;
        FollowBy(isTouched ? Passing.Borrowed : Passing.Mentioned, access, Grip.Direct);
    }

    private static bool IsWritten(IOperation access) => access.Parent switch
    {
        ISimpleAssignmentOperation assignment => assignment.Target == access,
        ITupleOperation tuple => Deconstruction.Around(tuple)?.Target.Strip() == tuple,
        _ => false,
    };

    // A member of an object, and it is known where in it the buffer is.
    private void FollowSlot(IOperation access, ISymbol member, Slot slot)
    {
        bool isWritten = IsWritten(access);
        if (member is IFieldSymbol || OwningTypes.IsAutomatic(member))
        {
            if (slot.Has(member))
            {
                Escapes |= isWritten && !_isConstructor;
                Follow(access, GripOf(access.Type));
            }

            return;
        }

        IMethodSymbol? called = member is IPropertySymbol property ? OwningTypes.Accessor(property, isWritten) : member as IMethodSymbol;
        Passing passing = called is not null && slot.Runs(called) is { } own ? _passingOf(own, slot) : Passing.Escapes;
        FollowBy(passing, access, passing == Passing.Returned ? Grip.Direct : Grip.Inside(slot));
    }

    private Grip GripOf(ITypeSymbol? type) =>
        _known.Types.IsMemory(type) || _known.Owning.IsBuffer(type) ? Grip.Direct : Grip.Holder;

    private void FollowField(IFieldReferenceOperation field, Grip grip)
    {
        if (grip.Slot is { } slot)
        {
            FollowSlot(field, field.Field, slot);
        }
        else if (!grip.IsHolder && _known.Owning.IsOwning(field.Field.ContainingType))
        {
            FollowInside(field, field.Field);
        }
        else
        {
            Follow(field, grip);
        }
    }

    // A member of an object that owns: what it does with that is known, and what it does not own is something else.
    private void FollowInside(IOperation access, ISymbol member)
    {
        bool isWritten = IsWritten(access);
        if (member is IFieldSymbol || OwningTypes.IsAutomatic(member))
        {
            if (_known.Owning.Owns(member.ContainingType, member))
            {
                // The object continues with another buffer or without one, so the old one is disposed or other code holds it.
                Escapes |= IsEmptied(access);
                IsRefilled |= isWritten || access.Parent is ICoalesceAssignmentOperation || IsAddedTo(access);
                Follow(access, Grip.Direct);
            }
            else if (!isWritten && _known.Owning.Shows(member)
                && access.Parent is not (IBinaryOperation or IPropertyReferenceOperation { Property.Name: "Length" or "IsEmpty" }))
            {
                Touch(access);
            }

            return;
        }

        IMethodSymbol? method = member is IPropertySymbol property ? OwningTypes.Accessor(property, isWritten) : member as IMethodSymbol;
        FollowBy(method is null ? Passing.Escapes : _passingOf(method, null), access, Grip.Direct);
    }

    // `_owner = null`, `_owner = given`, which may be null, `_owners[i] = null` and `_owners.Clear()`.
    private bool IsEmptied(IOperation access)
    {
        if (_isConstructor)
        {
            return false;
        }

        if (CollectedType.ItemOf(access.Type) is not null && access.Parent is IInvocationOperation { TargetMethod.Name: var called } call
            && call.Instance == access && (called == "Clear" || called.StartsWith("Remove", StringComparison.Ordinal)))
        {
            return true;
        }

        IOperation written = access.Parent is IArrayElementReferenceOperation or IPropertyReferenceOperation { Property.IsIndexer: true }
            ? access.Parent : access;
        return IsWritten(written) && (MemberWrites.IsCleared(written.Syntax)
            || written.Parent is ISimpleAssignmentOperation { Value: var given } && given.Strip() is IParameterReferenceOperation);
    }

    private bool IsAddedTo(IOperation collection) => CollectedType.ItemOf(collection.Type) is not null && collection.Parent switch
    {
        IInvocationOperation call => call.Instance == collection && call.TargetMethod.ReturnsVoid,
        IArrayElementReferenceOperation { Parent: ISimpleAssignmentOperation assignment } element => assignment.Target == element,
        IPropertyReferenceOperation { Parent: ISimpleAssignmentOperation assignment } item => assignment.Target == item,
        _ => false,
    };

    // As DangerousTryGetSingleMemory(out Memory<TPixel> memory).
    private void FollowOut(IInvocationOperation call)
    {
        foreach (IArgumentOperation argument in call.Arguments)
        {
            if (argument.IsByReference() && _known.Types.CanKeep(argument.Value.Type))
            {
                if (argument.Value.Strip().ReferencedVariable() is ILocalSymbol local)
                {
                    AliasLocal(local, Grip.Direct);
                }
                else if (argument.Value.Strip() is not IDiscardOperation)
                {
                    Escapes = true;
                }
            }
        }
    }

    private void FollowLoop(IForEachLoopOperation loop)
    {
        foreach (ILocalSymbol local in loop.Locals)
        {
            if (_known.Types.CanKeep(local.Type))
            {
                AliasLocal(local, Grip.Direct);
            }
        }
    }

    private void FollowPattern(IPatternOperation pattern, Grip grip)
    {
        foreach (IOperation inner in pattern.DescendantsAndSelf())
        {
            ISymbol? declared = inner switch
            {
                IDeclarationPatternOperation { DeclaredSymbol: { } symbol } => symbol,
                IRecursivePatternOperation { DeclaredSymbol: { } symbol } => symbol,
                IListPatternOperation { DeclaredSymbol: { } symbol } => symbol,
                _ => null,
            };
            if (declared is ILocalSymbol local && _known.Types.CanKeep(local.Type))
            {
                AliasLocal(local, grip);
            }
        }
    }

    private void FollowAccess(IConditionalAccessOperation access, IOperation value, Grip grip)
    {
        if (access.Operation != value)
        {
            Follow(access, grip);
            return;
        }

        foreach (IOperation inner in access.WhenNotNull.DescendantsAndSelf())
        {
            if (inner is IConditionalAccessInstanceOperation && AccessOf(inner) == access)
            {
                Follow(inner, grip);
            }
        }
    }

    // In `a?.b?.c` the second access has an instance of its own, which its own value leads to.
    private static IOperation? AccessOf(IOperation instance)
    {
        IOperation child = instance;
        while (child.Parent is { } parent && !(parent is IConditionalAccessOperation access && access.Operation != child))
        {
            child = parent;
        }

        return child.Parent;
    }
}
