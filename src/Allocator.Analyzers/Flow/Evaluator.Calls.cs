using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>Calls: allocations, disposals, views, borrowing, and the rest, which lets everything escape.</summary>
internal sealed partial class Evaluator
{
    private Holding EvaluateCall(IInvocationOperation call, bool asLocation)
    {
        IMethodSymbol method = call.TargetMethod;
        Holding receiver = call.Instance is null ? default : Evaluate(call.Instance, asLocation: true);
        if (_body.Sites.BitOf(call) is var site and not 0)
        {
            Given taken = EvaluateArguments(call);
            if (receiver is { Direct: 0, Held: not 0 })
            {
                GiveMaker(call, receiver);
            }
            else
            {
                GiveReceiver(call, method, receiver, ref taken);
            }

            TouchOwner(call, receiver);
            if (_members.IsHandOff(method))
            {
                Dispose(call, receiver);
            }

            // The new owner may have taken it over.
            Escape(taken.Returned | Holding.Holder(taken.ToResult));
            return Allocate(call, site);
        }

        if (_members.IsDispose(method) && receiver.All != 0 && (receiver.Own != 0 || _types.IsMemoryHandle(call.Instance?.Strip().Type)))
        {
            Dispose(call, receiver);
            return default;
        }

        if (_members.IsDispose(method) && receiver is { Own: 0, Memory: not 0 }
            && _body.Known.Owning.IsBuffer(call.Instance?.Strip().Type))
        {
            // The call disposes only a part of what an object owns.
            Escape(new Holding(receiver.Memory, receiver.Memory, 0));
            return default;
        }

        if (_members.IsReferenceOnly(method))
        {
            foreach (IArgumentOperation argument in call.Arguments)
            {
                Evaluate(argument.Value, asLocation: true);
            }

            return default;
        }

        if (receiver.Held != 0)
        {
            return EvaluateCallInside(call, receiver);
        }

        Given given = EvaluateArguments(call);
        GiveReceiver(call, method, receiver, ref given);
        if (method.MethodKind == MethodKind.Constructor)
        {
            // `: this(…)` or `: base(…)`: the new object gets the arguments of that call.
            Escape(given.Returned | Holding.Holder(given.ToResult));
        }

        Holding result = Apply(call, receiver, given, asLocation);
        if (method.MethodKind == MethodKind.LocalFunction)
        {
            Run(call, call);
            given.ToTask |= _types.IsTask(method.ReturnType) ? Captured(call).Held : 0;
            given.ToResult |= _types.CanKeep(method.ReturnType) ? Captured(call).Held : 0;
        }

        if (given.ToTask != 0 && call != _awaited)
        {
            Begin(call, given.ToTask);
        }

        ulong held = given.ToResult | (call == _awaited ? 0 : given.ToTask);
        return held == 0 ? result : result | Hold(held, given.Owners & given.ToResult);
    }

    /// <summary>Evaluates a user-defined operator as a call whose arguments are its operands.</summary>
    private Holding EvaluateOperator(IOperation operation, IMethodSymbol method)
    {
        ForgetStores();
        int operands = 0;
        foreach (IOperation operand in operation.ChildOperations)
        {
            Holding value = Evaluate(operand);
            IParameterSymbol parameter = method.Parameters[operands++];
            Passing passing = value.Keep == 0 ? Passing.Borrowed : _body.Known.Summaries.Of(parameter);
            if (passing is Passing.Borrowed or Passing.Mentioned)
            {
                Touch(operation, value);
                TouchOwner(operation, passing == Passing.Borrowed ? value : default);
            }
            else
            {
                Escape(value);
            }
        }

        return _body.Sites.BitOf(operation) is var site and not 0 ? Allocate(operation, site) : default;
    }

    private Holding Allocate(IOperation operation, ulong site)
    {
        NoteOverwritten(operation, site);
        State.Forget(site);
        State.Undisposed |= site;
        State.Absent &= ~site | _body.Sites.Late;
        State.Settled |= site;
        return new Holding(site, 0, 0);
    }

    private void Dispose(IOperation operation, Holding owner)
    {
        ulong surely = owner.Own & ~owner.Uncertain;
        Findings?.Add(new Finding(LifetimeRules.Unawaited, operation, surely & State.SurelyRunning & ~State.OwnerEscaped));
        EverDisposed |= owner.Own;
        NoteDisposal(operation, owner.Own);
        State.Disposed |= owner.Own;
        State.Undisposed &= ~surely;
        Unpin(owner.Memory);
    }

    /// <summary>Applies what the method does with its object to the object of a call.</summary>
    private void GiveReceiver(IOperation access, IMethodSymbol? method, Holding receiver, ref Given given)
    {
        bool isKnown = method is not null && _members.IsKnown(method);
        if (!isKnown || TakesDelegate(method!))
        {
            ForgetStores();
        }

        // A method that returns a bool may use it to say that there is no buffer.
        ulong late = receiver.Own & _body.Sites.Late;
        if (late != 0 && method is { ReturnType.SpecialType: not SpecialType.System_Boolean } && _body.Known.Factories.Fills(method))
        {
            State.Absent &= ~late;
        }

        if (isKnown || receiver.All == 0)
        {
            given.ToTask |= IsCopiedLater(method) ? receiver.Direct : 0;
            return;
        }

        bool isFollowed = method is not null && receiver is { Direct: not 0, Held: 0 }
            && _body.Known.Owning.IsOwning(method.ContainingType);
        Passing passing = isFollowed ? _body.Known.Summaries.Of(method!) : Passing.Escapes;
        if (passing is Passing.Escapes or Passing.HandedOut || (passing == Passing.Refilled && IsRevived(receiver)))
        {
            Escape(receiver);
            return;
        }

        if (passing is not (Passing.Mentioned or Passing.Refilled))
        {
            TouchOwner(access, receiver);
        }

        if (passing == Passing.Refilled && SymbolEqualityComparer.Default.Equals(
            _body.Known.Origins.ViewedBy(method!), method!.ContainingType.OriginalDefinition))
        {
            // A view of the old buffer or of the new one: the object disposes both.
            given.Returned |= receiver.AsMemory();
        }

        given.ToResult |= passing == Passing.Held ? receiver.Keep : 0;
        given.ToTask |= passing == Passing.HeldByTask ? receiver.Keep : 0;
        if (passing == Passing.Returned)
        {
            EscapeByCollection(access.Type, receiver);

            // If another object is returned, it is a part of this one: disposing it does not dispose all.
            given.Returned |= SymbolEqualityComparer.Default.Equals(access.Type, method!.ContainingType) ? receiver : receiver.AsMemory();
        }
    }

    // Copying from a stream that is a buffer reads the buffer while the other end writes it.
    private bool IsCopiedLater(IMethodSymbol? method) => method is { Name: "CopyToAsync" } && _types.IsStream(method.ContainingType);

    // An object that is given another buffer after its disposal owns that one.
    private bool IsRevived(Holding owner) => (owner.Direct & State.Disposed) != 0;

    private static bool TakesDelegate(IMethodSymbol method)
    {
        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (parameter.Type.TypeKind == TypeKind.Delegate)
            {
                return true;
            }
        }

        return false;
    }

    private Holding Apply(IInvocationOperation call, Holding receiver, Given given, bool asLocation)
    {
        IMethodSymbol method = call.TargetMethod;
        Holding all = receiver | given.All;
        if (all.All == 0)
        {
            return default;
        }

        bool isKnown = _members.IsKnown(method);
        bool returnsRef = method.ReturnsByRef || method.ReturnsByRefReadonly;
        bool returnsRaw = returnsRef || _body.Known.IsRaw(method.ReturnType);
        bool isView = isKnown && (_members.IsView(method) || (all.Raw == 0 && (returnsRaw || _types.IsMemory(method.ReturnType))));
        if (!isView)
        {
            Touch(call, all);
        }

        if (!isKnown)
        {
            return ResultOfSource(call, call.Type, returnsRef, given.Returned, asLocation);
        }

        if ((!isView || returnsRaw || _types.IsMemoryHandle(method.ReturnType)) && !_members.IsIdentity(method))
        {
            TouchOwner(call, all);
        }

        if (_types.IsMemoryHandle(method.ReturnType))
        {
            Pin(call, all.Direct);
        }

        AssignOutArguments(call, receiver);
        if (returnsRef && !asLocation)
        {
            Touch(call, all.AsRaw());
            return default;
        }

        return returnsRaw ? all.AsRaw() : _members.IsPart(method) ? all.AsMemory() : ResultOf(call, all);
    }

    /// <summary>Returns the result of a member of the compilation that returns its argument, or a view of it.</summary>
    private Holding ResultOfSource(IOperation access, ITypeSymbol? type, bool returnsRef, Holding returned, bool asLocation)
    {
        if (returnsRef && !asLocation)
        {
            Touch(access, returned.AsRaw());
            return default;
        }

        return returnsRef || _body.Known.IsRaw(type) ? returned.AsRaw()
            : _types.IsMemory(type) ? returned.AsMemory()
            : returned;
    }

    private Holding ResultOf(IInvocationOperation call, Holding source)
    {
        IMethodSymbol method = call.TargetMethod;
        if (method.ReturnsVoid || _members.IsCopy(method) || call == _awaited || IsCopiedLater(method))
        {
            return default;
        }

        // An enumerator over the members of a group keeps the group, and is not its owner.
        return method.Name == "GetEnumerator" ? source.AsMemory() : View(call, source, method.ReturnType);
    }
}
