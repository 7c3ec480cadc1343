using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Flow;

/// <summary>Arguments: what a call does with each of them, and where they go.</summary>
internal sealed partial class Evaluator
{
    private Given EvaluateArguments(IInvocationOperation call)
    {
        Given given = default;
        foreach (IArgumentOperation argument in call.Arguments)
        {
            bool isByReference = argument.IsByReference();
            Holding value = Evaluate(argument.Value, asLocation: isByReference || _body.Known.IsRaw(argument.Value.Type));
            ulong owners = _body.Known.Passings.IsForJob(call, argument) ? 0 : value.Own;
            value = Give(call, argument, value, ref given);
            if (argument.Parameter?.RefKind == RefKind.Ref && value.Keep == 0 && value.Raw != 0
                && _body.Known.Passings.IsNarrowed(argument.Parameter))
            {
                continue;
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
                Assign(argument.Value, Allocate(argument, site), isRef: false);

                // It is null if the call says that there is none.
                State.Handed |= site;
            }

            given.All |= value;
            given.Owners |= KnownTypes.IsLazy(call.TargetMethod) ? value.Own : owners;
        }

        return given;
    }

    private Holding Give(IInvocationOperation call, IArgumentOperation argument, Holding value, ref Given given)
    {
        if (value.All == 0)
        {
            return value;
        }

        if (value is { Direct: 0, Held: not 0 } && !argument.IsByReference() | argument.Parameter?.RefKind == RefKind.In
            && !_members.IsKnown(call.TargetMethod))
        {
            value = GiveInside(call, argument.Value, value, _ => argument.Parameter, ref given);
            if (value.All == 0)
            {
                return value;
            }
        }

        Passing passing = _body.Known.Passings.Of(call, argument);
        if (passing == Passing.Escapes && AddsToNewCollection(call) && _variables.TryGet(call.Instance!, out int collection))
        {
            State[collection] |= Hold(value.Keep, value.Own);
            return default;
        }

        if (passing == Passing.Escapes)
        {
            NoteCollected(call, call.Instance, value);
            if (argument.Value.Strip() is IPropertyReferenceOperation or IInvocationOperation)
            {
                // Memory that is obtained in this call, not before the disposal.
                TouchOwner(call, new Holding(0, value.Memory, 0));
            }

            // Spans cannot be kept.
            Escape(new Holding(value.Own, value.Memory, 0, value.Uncertain, value.Held));
            return value;
        }

        if (passing == Passing.Disposed)
        {
            Escape(new Holding(0, value.Memory, 0, 0, value.Held));
            Dispose(call, value);
            return default;
        }

        if (passing == Passing.Refilled && IsRevived(value))
        {
            Escape(value);
        }

        if (passing is not (Passing.Mentioned or Passing.Refilled))
        {
            TouchOwner(call, value);
        }

        if (argument.Parameter?.Ordinal == 0 && RunsQuery(call.TargetMethod))
        {
            RunQuery(call, _variables.OnlyValue(argument.Value));
        }

        if (_types.IsDelegate(argument.Parameter?.Type))
        {
            // The lambda will read the buffer, now or later.
            TouchOwner(call, new Holding(0, value.Held, 0));
        }

        if (value.Held != 0 && passing != Passing.Returned)
        {
            State.Settle(passing is Passing.Borrowed or Passing.Mentioned ? value.Held : 0);
        }

        switch (passing)
        {
            case Passing.Returned:
                given.Returned |= value;
                return value;
            case Passing.Held:
                given.ToResult |= value.Keep;
                return new Holding(0, 0, value.Raw);
            case Passing.HeldByTask:
                given.ToTask |= value.Keep;
                return _members.IsKnown(call.TargetMethod) ? new Holding(0, 0, value.Raw) : value;
            default:
                return new Holding(value.Own, value.Memory, value.Raw, value.Uncertain);
        }
    }

    // Counting computes no item.
    private bool RunsQuery(IMethodSymbol method) => method is { ContainingType.Name: "Enumerable", Name: var name }
        && !KnownTypes.IsLazy(method) && name is not ("Count" or "LongCount" or "Any" or "TryGetNonEnumeratedCount");

    // As DangerousTryGetSingleMemory(out Memory<TPixel> memory).
    private void AssignOutArguments(IInvocationOperation call, Holding receiver)
    {
        if (receiver.Direct == 0 || !_members.IsOfAllocator(call.TargetMethod))
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

    /// <summary>What happens to the allocations that a call gets.</summary>
    private struct Given
    {
        /// <summary>The rest, which did not go anywhere else.</summary>
        public Holding All;

        /// <summary>What the call returns, as it is or as a view.</summary>
        public Holding Returned;

        /// <summary>What the result holds.</summary>
        public ulong ToResult;

        /// <summary>What the returned task uses.</summary>
        public ulong ToTask;

        /// <summary>The allocations that were passed as the owner itself.</summary>
        public ulong Owners;
    }
}
