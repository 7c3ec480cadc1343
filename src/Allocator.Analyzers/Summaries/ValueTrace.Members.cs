using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>What members and calls do with the value.</summary>
internal sealed partial class ValueTrace
{
    private void FollowCallOn(IInvocationOperation call, bool isHolder)
    {
        if (_known.Members.IsDispose(call.TargetMethod) || _known.Members.IsHandOff(call.TargetMethod))
        {
            bool isOwner = !isHolder && !_known.Types.IsMemoryHandle(call.Instance?.Type);
            Disposes |= isOwner;
            Escapes |= isHolder && !_known.Members.IsOfBaseLibrary(call.TargetMethod);
            return;
        }

        FollowOut(call);
        FollowMember(call, call.TargetMethod, isHolder);
    }

    private void FollowMember(IOperation access, ISymbol member, bool isHolder)
    {
        if (_known.Types.IsDelegate(member.ContainingType))
        {
            // The call of a lambda: what it returns is looked at inside it.
            return;
        }

        if (!isHolder && _known.Owning.IsOwning(member.ContainingType))
        {
            FollowInside(access, member);
        }
        else if (_known.Members.IsKnown(member))
        {
            IsTouched |= member is IMethodSymbol called ? !_known.Members.IsIdentity(called)
                : _known.Types.CanShow(access.Type) || (member is IPropertySymbol property && _known.Members.IsAddress(property));
            bool isFresh = member is IMethodSymbol method && (_known.Factories.Contains(method) || _known.Members.IsCopy(method));
            if (!isFresh)
            {
                Follow(access, isHolder || !(_known.Types.IsMemory(access.Type) || _known.Types.IsRaw(access.Type)));
            }
        }
        else
        {
            Escapes |= member is IMethodSymbol || _known.Types.CanKeep(access.Type);
        }
    }

    private void FollowField(IFieldReferenceOperation field, bool isHolder)
    {
        if (!isHolder && _known.Owning.IsOwning(field.Field.ContainingType))
        {
            FollowInside(field, field.Field);
        }
        else
        {
            Follow(field, isHolder);
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
                Escapes |= isWritten && !_isConstructor;
                Follow(access, isHolder: false);
            }

            return;
        }

        IMethodSymbol? method = member is IPropertySymbol property ? OwningTypes.Accessor(property, isWritten) : member as IMethodSymbol;
        FollowBy(method is null ? Passing.Escapes : _passingOf(method), access, isHolder: false);
    }

    // As DangerousTryGetSingleMemory(out Memory<TPixel> memory).
    private void FollowOut(IInvocationOperation call)
    {
        foreach (IArgumentOperation argument in call.Arguments)
        {
            if (argument.IsByReference() && _known.Types.CanKeep(argument.Value.Type))
            {
                if (argument.Value.Strip().ReferencedVariable() is ILocalSymbol local)
                {
                    AliasLocal(local, isHolder: false);
                }
                else if (argument.Value.Strip() is not IDiscardOperation)
                {
                    Escapes = true;
                }
            }
        }
    }

    private void FollowArgument(IArgumentOperation argument, bool isHolder)
    {
        switch (argument.Parent)
        {
            case IInvocationOperation call when !argument.IsByReference() || argument.Parameter!.RefKind == RefKind.In:
                FollowPassed(call, argument, isHolder);
                break;
            case IObjectCreationOperation creation:
                FollowConstructed(creation, argument, isHolder);
                break;
            default:
                Escapes = true;
                break;
        }
    }

    private void FollowPassed(IInvocationOperation call, IArgumentOperation argument, bool isHolder)
    {
        IMethodSymbol method = call.TargetMethod;
        if (_known.Members.IsReferenceOnly(method) || argument.Parameter is not { } parameter)
        {
            return;
        }

        Passing passing = _known.Passings.OfKnown(call, argument);
        passing = passing == Passing.Escapes && !_known.Members.IsKnown(method) ? _passingOf(parameter) : passing;
        if (method.MethodKind == MethodKind.Constructor && passing is Passing.Returned or Passing.Held)
        {
            // `: this(…)` or `: base(…)`: as if it stood in the body.
            IsTakenOver |= passing == Passing.Returned && !isHolder;
            IsHeldByResult |= passing == Passing.Held || isHolder;
            return;
        }

        if (passing == Passing.Returned)
        {
            FollowOut(call);
        }

        FollowBy(passing, call, isHolder);
    }

    private void FollowBy(Passing passing, IOperation result, bool isHolder)
    {
        switch (passing)
        {
            case Passing.Mentioned:
                break;
            case Passing.Borrowed:
                IsTouched = true;
                break;
            case Passing.Returned:
                IsTouched |= _known.Types.IsRaw(result.Type);
                Follow(result, isHolder);
                break;
            case Passing.Held or Passing.HeldByTask:
                IsTouched = true;
                Follow(result, isHolder: true);
                break;
            default:
                Escapes = true;
                break;
        }
    }

    private void FollowConstructed(IObjectCreationOperation creation, IArgumentOperation argument, bool isHolder)
    {
        if (_known.Types.IsMemory(creation.Type) || _known.Types.IsTask(creation.Type))
        {
            Follow(creation, isHolder);
        }
        else if (_known.Members.LeavesOpen(creation))
        {
            Follow(creation, isHolder: true);
        }
        else
        {
            FollowBy(argument.Parameter is { } parameter ? _passingOf(parameter) : Passing.Escapes, creation, isHolder);
        }
    }

    private void FollowLoop(IForEachLoopOperation loop)
    {
        foreach (ILocalSymbol local in loop.Locals)
        {
            if (_known.Types.CanKeep(local.Type))
            {
                AliasLocal(local, isHolder: false);
            }
        }
    }

    private void FollowPattern(IPatternOperation pattern, bool isHolder)
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
                AliasLocal(local, isHolder);
            }
        }
    }
}
