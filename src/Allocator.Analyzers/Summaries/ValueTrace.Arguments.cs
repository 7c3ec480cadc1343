using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>What a call or a constructor does with the value that it is given.</summary>
internal sealed partial class ValueTrace
{
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
        if (_known.Members.IsReferenceOnly(method) || argument.Parameter is not { } parameter || IsOwnEvent(call))
        {
            return;
        }

        Passing passing = _known.Passings.OfKnown(call, argument);
        passing = passing == Passing.Escapes && !_known.Members.IsKnown(method) ? _passingOf(parameter, grip.Slot) : passing;
        if (method.MethodKind == MethodKind.Constructor && passing is Passing.Returned or Passing.Held)
        {
            // `: this(…)` or `: base(…)` is treated like a call in the body.
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

    // An object that raises its own event passes itself to handlers. The code that added a handler had the object, so it escaped there.
    private bool IsOwnEvent(IInvocationOperation call)
    {
        IOperation? raised = call.Instance;
        for (IOperation? parent = call.Parent; raised is IConditionalAccessInstanceOperation && parent is not null; parent = parent.Parent)
        {
            raised = (parent as IConditionalAccessOperation)?.Operation ?? raised;
        }

        return _subject is IMethodSymbol && raised is IEventReferenceOperation { Instance: IInstanceReferenceOperation };
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
                if (_known.IsRaw(result.Type) || result is IPropertyReferenceOperation { Property.ReturnsByRef: true }
                    or IPropertyReferenceOperation { Property.ReturnsByRefReadonly: true })
                {
                    Touch(result);
                }

                Follow(result, grip.Slot is null ? grip : Grip.Direct);
                break;
            case Passing.Held or Passing.HeldByTask:
                Touch(result);
                bool isTask = passing == Passing.HeldByTask && result is IInvocationOperation { TargetMethod: var called }
                    && _known.Bodies.Of(called) is not null;
                Follow(result, isTask ? Grip.Task : Grip.Holder);
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
            if (passing == Passing.Held && !grip.IsHolder && _known.Holders.SlotIn(creation, parameter, _passingOf) is { } slot)
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

    // Disposing an object that only holds the buffer may leave the buffer alone.
    private bool DisposesHolderAlone(Grip grip, ITypeSymbol type)
    {
        IMethodSymbol? dispose = type.GetMembers(nameof(IDisposable.Dispose)).OfType<IMethodSymbol>()
            .FirstOrDefault(method => method.Parameters.IsEmpty);
        return grip.Slot is { } slot && dispose is not null && slot.Runs(dispose) is { } own
            && _passingOf(own, slot) is Passing.Borrowed or Passing.Mentioned;
    }
}
