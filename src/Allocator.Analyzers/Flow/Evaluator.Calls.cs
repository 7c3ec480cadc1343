using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
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
                Dispose(receiver);
            }

            return Allocate(site);
        }

        if (receiver.Own != 0 && _members.IsDispose(method))
        {
            Dispose(receiver);
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

        Holding arguments = EvaluateArguments(call);
        EscapeUnlessKnown(call, receiver);
        return Apply(call, receiver, arguments, asLocation);
    }

    private Holding Allocate(ulong site)
    {
        State.Forget(site);
        State.Undisposed |= site;
        return new Holding(site, 0, 0);
    }

    private void Dispose(Holding owner)
    {
        EverDisposed |= owner.Own;
        State.Disposed |= owner.Own;
        State.Undisposed &= ~(owner.Own & ~owner.Uncertain);
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

    private Holding Apply(IInvocationOperation call, Holding receiver, Holding arguments, bool asLocation)
    {
        IMethodSymbol method = call.TargetMethod;
        Holding all = receiver | arguments;
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
            return default;
        }

        if ((!isView || returnsRaw || _types.IsMemoryHandle(method.ReturnType)) && !_members.IsIdentity(method))
        {
            TouchOwner(call, all);
        }

        if (_types.IsMemoryHandle(method.ReturnType))
        {
            State.Pinned |= all.Keep;
        }

        AssignOutArguments(call, receiver);
        if (returnsRef && !asLocation)
        {
            Touch(call, all.AsRaw());
            return default;
        }

        return returnsRaw ? all.AsRaw() : ResultOf(call, all);
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

    private Holding EvaluateArguments(IInvocationOperation call)
    {
        Holding all = default;
        foreach (IArgumentOperation argument in call.Arguments)
        {
            bool isByReference = argument.IsByReference();
            Holding value = Evaluate(argument.Value, asLocation: isByReference || _types.IsRaw(argument.Value.Type));
            if (_members.IsBorrowed(argument.Parameter))
            {
                TouchOwner(call, value);
            }
            else if (value.Own != 0 || !KeepsNoMemory(call, argument))
            {
                Escape(value);
            }

            if (argument.Parameter?.RefKind is RefKind.Ref or RefKind.Out
                && !argument.Value.Strip().IsRefLocal()
                && _variables.TryGet(argument.Value, out int variable))
            {
                Escape(value);
                State[variable] = default;
                value = default;
            }

            if (_body.Sites.BitOf(argument) is var site and not 0)
            {
                Assign(argument.Value, Allocate(site), isRef: false);
            }

            all |= value;
        }

        return all;
    }

    private bool KeepsNoMemory(IInvocationOperation call, IArgumentOperation argument)
    {
        IMethodSymbol method = call.TargetMethod;
        if (!_members.IsKnown(method) || !_types.IsMemory(argument.Parameter?.OriginalDefinition.Type))
        {
            return false;
        }

        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (parameter.RefKind == RefKind.Out)
            {
                return false;
            }
        }

        return call == _awaited
            || _types.IsRaw(method.ReturnType)
            || _types.IsMemory(method.ReturnType)
            || _types.IsMemory(method.ContainingType)
            || method.ContainingType.Name is "MemoryMarshal" or "MemoryExtensions";
    }

    // As DangerousTryGetSingleMemory(out Memory<TPixel> memory).
    private void AssignOutArguments(IInvocationOperation call, Holding receiver)
    {
        if (receiver.Keep == 0 || !_members.IsOfAllocator(call.TargetMethod))
        {
            return;
        }

        foreach (IArgumentOperation argument in call.Arguments)
        {
            if (argument.Parameter?.RefKind == RefKind.Out && _types.IsMemory(argument.Parameter.Type)
                && !argument.Value.Strip().IsRefLocal() && _variables.TryGet(argument.Value, out int variable))
            {
                AssignVariable(argument.Value.Strip(), variable, receiver.AsMemory());
            }
        }
    }
}
