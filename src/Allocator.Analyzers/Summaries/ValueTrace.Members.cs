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
            // The call of a lambda: what it returns is looked at inside it.
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
                : _known.Types.CanShow(access.Type) || (member is IPropertySymbol property && _known.Members.IsOfLiving(property));
            if (isTouched)
            {
                Touch(access);
            }

            // `Pop` and its like hand out what was collected.
            Escapes |= member is IMethodSymbol && CollectedType.ItemOf(member.ContainingType) is not null
                && _known.Types.CanKeep(access.Type);
            bool isFresh = member is IMethodSymbol method && (_known.Factories.Contains(method) || _known.Members.IsCopy(method));
            if (!isFresh)
            {
                bool isView = !grip.IsHolder && (_known.Types.IsMemory(access.Type) || _known.Types.IsRaw(access.Type));
                Follow(access, isView ? Grip.Direct : Grip.Holder);
            }
        }
        else
        {
            Escapes |= member is IMethodSymbol || _known.Types.CanKeep(access.Type);
        }
    }

    // A member of an object, and it is known where in it the buffer is.
    private void FollowSlot(IOperation access, ISymbol member, Slot slot)
    {
        bool isWritten = access.Parent is ISimpleAssignmentOperation assignment && assignment.Target == access;
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
        bool isWritten = access.Parent is ISimpleAssignmentOperation assignment && assignment.Target == access;
        if (member is IFieldSymbol || OwningTypes.IsAutomatic(member))
        {
            if (_known.Owning.Owns(member.ContainingType, member))
            {
                // The object goes on with another buffer.
                IsRefilled |= isWritten || access.Parent is ICoalesceAssignmentOperation || IsAddedTo(access);
                Follow(access, Grip.Direct);
            }

            return;
        }

        IMethodSymbol? method = member is IPropertySymbol property ? OwningTypes.Accessor(property, isWritten) : member as IMethodSymbol;
        FollowBy(method is null ? Passing.Escapes : _passingOf(method, null), access, Grip.Direct);
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

    private void FollowArgument(IArgumentOperation argument, Grip grip)
    {
        switch (argument.Parent)
        {
            case IInvocationOperation call when !argument.IsByReference() || argument.Parameter!.RefKind == RefKind.In:
                FollowPassed(call, argument, grip);
                break;
            case IObjectCreationOperation creation:
                FollowConstructed(creation, argument, grip);
                break;
            default:
                Escapes = true;
                break;
        }
    }

    private void FollowPassed(IInvocationOperation call, IArgumentOperation argument, Grip grip)
    {
        IMethodSymbol method = call.TargetMethod;
        if (_known.Members.IsReferenceOnly(method) || argument.Parameter is not { } parameter)
        {
            return;
        }

        Passing passing = _known.Passings.OfKnown(call, argument);
        passing = passing == Passing.Escapes && !_known.Members.IsKnown(method) ? _passingOf(parameter, grip.Slot) : passing;
        if (method.MethodKind == MethodKind.Constructor && passing is Passing.Returned or Passing.Held)
        {
            // `: this(…)` or `: base(…)`: as if it stood in the body.
            IsTakenOver |= passing == Passing.Returned && !grip.IsHolder;
            IsHeldByResult |= passing == Passing.Held || grip.IsHolder;
            return;
        }

        if (passing == Passing.Returned)
        {
            FollowOut(call);
        }

        FollowBy(passing, call, grip);
    }

    private void FollowBy(Passing passing, IOperation result, Grip grip)
    {
        switch (passing)
        {
            case Passing.Mentioned:
                break;
            case Passing.Borrowed:
                Touch(result);
                break;
            case Passing.Disposed when !grip.IsHolder:
                Disposes = true;
                break;
            case Passing.Refilled:
                Touch(result);
                IsRefilled = true;
                break;
            case Passing.Returned:
                if (_known.Types.IsRaw(result.Type))
                {
                    Touch(result);
                }

                Follow(result, grip.Slot is null ? grip : Grip.Direct);
                break;
            case Passing.Held or Passing.HeldByTask:
                Touch(result);
                Follow(result, Grip.Holder);
                break;
            default:
                Escapes = true;
                break;
        }
    }

    private void FollowConstructed(IObjectCreationOperation creation, IArgumentOperation argument, Grip grip)
    {
        if (_known.Types.IsMemory(creation.Type) || _known.Types.IsTask(creation.Type))
        {
            Follow(creation, grip);
        }
        else if (_known.Members.LeavesOpen(creation))
        {
            Follow(creation, Grip.Holder);
        }
        else if (argument.Parameter is { } parameter)
        {
            Passing passing = _passingOf(parameter, grip.Slot);
            if (passing == Passing.Held && !grip.IsHolder && SlotIn(creation, parameter) is { } slot)
            {
                Touch(creation);
                Follow(creation, Grip.Inside(slot));
            }
            else
            {
                FollowBy(passing, creation, grip);
            }
        }
        else
        {
            Escapes = true;
        }
    }

    // Where an object that is made here has the buffer, if it is certain.
    private Slot? SlotIn(IObjectCreationOperation creation, IParameterSymbol parameter) =>
        creation.Type is INamedTypeSymbol { DeclaringSyntaxReferences.IsEmpty: false } type && !HolderTable.HasFinalizer(type)
        && _known.Holders.SlotOf(type, parameter) is { IsKnown: true } slot
        && _passingOf(creation.Constructor!, slot) is Passing.Borrowed or Passing.Mentioned ? slot : null;

    // To dispose an object that only holds the buffer may do nothing to that.
    private bool DisposesHolderAlone(Grip grip, ITypeSymbol type)
    {
        IMethodSymbol? dispose = type.GetMembers(nameof(IDisposable.Dispose)).OfType<IMethodSymbol>()
            .FirstOrDefault(method => method.Parameters.IsEmpty);
        return grip.Slot is { } slot && dispose is not null && slot.Runs(dispose) is { } own
            && _passingOf(own, slot) is Passing.Borrowed or Passing.Mentioned;
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
}
