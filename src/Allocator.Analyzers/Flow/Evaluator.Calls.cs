using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

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
            EvaluateArguments(call);
            EscapeUnlessKnown(call, receiver);
            TouchOwner(call, receiver);
            if (_members.IsHandOff(method))
            {
                Dispose(call, receiver);
            }

            return Allocate(call, site);
        }

        if (_members.IsDispose(method) && receiver.All != 0 && (receiver.Own != 0 || _types.IsMemoryHandle(call.Instance?.Strip().Type)))
        {
            Dispose(call, receiver);
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
        EscapeUnlessKnown(call, receiver);
        Holding result = Apply(call, receiver, given, asLocation);
        if (method.MethodKind == MethodKind.LocalFunction && _types.CanKeep(method.ReturnType))
        {
            given.ToTask |= _types.IsTask(method.ReturnType) ? Captured(call).Held : 0;
            given.ToResult |= Captured(call).Held;
        }

        if (given.ToTask != 0 && call != _awaited)
        {
            Begin(call, given.ToTask);
        }

        ulong held = given.ToResult | (call == _awaited ? 0 : given.ToTask);
        return held == 0 ? result : result | Hold(held, given.Owners & given.ToResult);
    }

    /// <summary>Evaluates the call of a member of what holds buffers: an object, a lambda that captured them, a task.</summary>
    private Holding EvaluateCallInside(IInvocationOperation call, Holding receiver)
    {
        IMethodSymbol method = call.TargetMethod;
        Given given = EvaluateArguments(call);
        if (_types.IsTask(call.Instance?.Type))
        {
            if (method.Name is "AsTask" or "ConfigureAwait" or "Preserve" or "WaitAsync" or "Unwrap")
            {
                return receiver;
            }

            // Wait, GetAwaiter, GetResult.
            State.Settle(receiver.Held);
            return default;
        }

        bool isLooked = AddsToNewCollection(call) || (_members.IsOfBaseLibrary(method) && !_types.CanShow(call.Type))
            || (method.MethodKind == MethodKind.DelegateInvoke && !_types.CanShow(call.Type));
        if (!isLooked)
        {
            Escape(receiver);
        }

        return default;
    }

    private Holding Allocate(IOperation operation, ulong site)
    {
        NoteOverwritten(operation, site);
        State.Forget(site);
        State.Undisposed |= site;
        State.Absent &= ~site;
        State.Settled |= site;
        return new Holding(site, 0, 0);
    }

    private void Dispose(IOperation operation, Holding owner)
    {
        ulong surely = owner.Own & ~owner.Uncertain;
        Findings?.Add(new Finding(LifetimeRules.Unawaited, operation, surely & State.SurelyRunning & ~State.OwnerEscaped));
        EverDisposed |= owner.Own;
        State.Disposed |= owner.Own;
        State.Undisposed &= ~surely;
        Unpin(owner.Memory);
    }

    private void EscapeUnlessKnown(IInvocationOperation call, Holding receiver)
    {
        bool isKnown = _members.IsKnown(call.TargetMethod);
        if (!isKnown)
        {
            Escape(receiver);
        }

        if (!isKnown || TakesDelegate(call.TargetMethod))
        {
            ForgetStores();
        }
    }

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
        bool returnsRaw = returnsRef || _types.IsRaw(method.ReturnType);
        bool isView = isKnown && (_members.IsView(method) || (all.Raw == 0 && (returnsRaw || _types.IsMemory(method.ReturnType))));
        if (!isView)
        {
            Touch(call, all);
        }

        if (!isKnown)
        {
            return ResultOfSource(call, given.Returned, asLocation);
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

        return returnsRaw ? all.AsRaw() : ResultOf(call, all);
    }

    /// <summary>Gives what a method of the compilation returns that returns what it was given, or a view of it.</summary>
    private Holding ResultOfSource(IInvocationOperation call, Holding returned, bool asLocation)
    {
        IMethodSymbol method = call.TargetMethod;
        if (method.ReturnsByRef || method.ReturnsByRefReadonly)
        {
            if (!asLocation)
            {
                Touch(call, returned.AsRaw());
                return default;
            }

            return returned.AsRaw();
        }

        return _types.IsRaw(method.ReturnType) ? returned.AsRaw()
            : _types.IsMemory(method.ReturnType) ? returned.AsMemory()
            : returned;
    }

    private Holding ResultOf(IInvocationOperation call, Holding source)
    {
        IMethodSymbol method = call.TargetMethod;
        if (method.ReturnsVoid || _members.IsCopy(method) || call == _awaited)
        {
            return default;
        }

        // An enumerator over the members of a group keeps the group, and is not its owner.
        return method.Name == "GetEnumerator" ? source.AsMemory() : View(call, source, method.ReturnType);
    }
}
