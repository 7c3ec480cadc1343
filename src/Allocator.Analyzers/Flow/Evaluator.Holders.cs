using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>
/// Objects that hold a buffer without owning it. What their methods do with it is known if it is known which field has it.
/// </summary>
internal sealed partial class Evaluator
{
    private readonly Dictionary<int, List<Slot>> _slots = new();

    /// <summary>Gets whether a buffer was put into a second field: conclusions from the first may be wrong.</summary>
    public bool HasNewSlots { get; private set; }

    private void NoteSlot(ulong sites, Slot slot)
    {
        foreach (int site in SitesOf(sites))
        {
            if (!_slots.TryGetValue(site, out List<Slot>? slots))
            {
                _slots.Add(site, slots = new List<Slot>());
            }

            if (!slots.Contains(slot))
            {
                slots.Add(slot);
                HasNewSlots |= slots.Count > 1;
            }
        }
    }

    private IEnumerable<int> SitesOf(ulong sites)
    {
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            if ((sites >> site & 1) != 0)
            {
                yield return site;
            }
        }
    }

    /// <summary>Returns where an object of the type has an allocation, or null if that is not certain.</summary>
    private Slot? SlotOf(int site, IOperation? holder)
    {
        if (holder?.Strip().Type is not INamedTypeSymbol { TypeKind: TypeKind.Class or TypeKind.Struct } type
            || type.DeclaringSyntaxReferences.IsEmpty || !_slots.TryGetValue(site, out List<Slot>? slots))
        {
            return null;
        }

        Slot? found = null;
        foreach (Slot slot in slots)
        {
            for (INamedTypeSymbol? one = slot.Type; one is not null; one = one.BaseType?.OriginalDefinition)
            {
                if (SymbolEqualityComparer.Default.Equals(one, type.OriginalDefinition))
                {
                    if (found is not null || !slot.IsKnown)
                    {
                        return null;
                    }

                    found = slot;
                }
            }
        }

        return found;
    }

    /// <summary>Evaluates the call of a member of an object, lambda or task that holds buffers.</summary>
    private Holding EvaluateCallInside(IInvocationOperation call, Holding receiver)
    {
        IMethodSymbol method = call.TargetMethod;
        Given given = EvaluateArguments(call);
        if (_types.IsTask(call.Instance?.Type))
        {
            if (method.Name is "AsTask" or "ConfigureAwait" or "Preserve" or "WaitAsync" or "Unwrap" or "ContinueWith")
            {
                return receiver | Holding.Holder(given.ToTask);
            }

            // Wait, GetAwaiter, GetResult.
            State.Settle(receiver.Held);
            return default;
        }

        if (method.MethodKind == MethodKind.DelegateInvoke)
        {
            Run(call, (_variables.OnlyValue(call.Instance!) as IDelegateCreationOperation)?.Target);
        }

        if (method.Name is "GetEnumerator" or "GetAsyncEnumerator" && _members.IsOfBaseLibrary(method))
        {
            RunQuery(call, _variables.OnlyValue(call.Instance!));
            return receiver;
        }

        if (method.Name == "ToArray" && IsOfMemory(call.Instance!.Type))
        {
            return receiver;
        }

        if (!_members.IsKnown(method) || _members.IsDispose(method))
        {
            ForgetStores();
            receiver = GiveInside(call, call.Instance, receiver, slot => slot.Runs(method), ref given);
        }

        if (method.MethodKind == MethodKind.DelegateInvoke && _types.IsTask(call.Type) && _types.ResultOfTask(call.Type!) is null
            && (receiver.Held & _body.Sites.Buffers) == 0)
        {
            // A function that works with an allocator no longer uses it when its task has ended.
            given.ToTask |= receiver.Held;
            receiver = default;
        }

        // Disposing an object of the user's may dispose what it holds.
        bool isLooked = AddsToNewCollection(call)
            || (_members.IsOfBaseLibrary(method) && !_types.CanShow(call.Type) && !IsDisposedByUser(call))
            || (method.MethodKind == MethodKind.DelegateInvoke && !_types.CanShow(call.Type));
        if (!isLooked)
        {
            Escape(receiver);
        }

        return ResultOfHolder(call, call.Type, given, method.ReturnsByRef || method.ReturnsByRefReadonly);
    }

    // An object that holds a buffer or an allocator creates a new owner, which may hold it too.
    private void GiveMaker(IInvocationOperation call, Holding receiver)
    {
        ForgetStores();
        Given given = default;
        Holding rest = GiveInside(call, call.Instance, receiver, slot => slot.Runs(call.TargetMethod), ref given);
        Escape(rest | given.Returned | Holding.Holder(given.ToResult | given.ToTask));
    }

    private bool IsDisposedByUser(IInvocationOperation call) =>
        _members.IsDispose(call.TargetMethod) && call.Instance?.Strip().Type is { } type && !_members.IsOfBaseLibrary(type);

    private Holding ResultOfHolder(IOperation access, ITypeSymbol? type, Given given, bool returnsRef)
    {
        bool isAwaited = access == _awaited;
        if (given.ToTask != 0 && !isAwaited)
        {
            Begin(access, given.ToTask);
        }

        ulong held = given.ToResult | (isAwaited ? 0 : given.ToTask);
        Holding result = ResultOfSource(access, type, returnsRef, given.Returned, asLocation: true);
        return held == 0 ? result : result | Hold(held, given.Owners & given.ToResult);
    }

    /// <summary>Applies to what an object holds what its member, or a method that gets the object, does with it.</summary>
    /// <returns>The part of which nothing is known any more.</returns>
    private Holding GiveInside(
        IOperation access, IOperation? holder, Holding value, Func<Slot, ISymbol?> runs, ref Given given)
    {
        ulong rest = value.Held;
        foreach (int site in SitesOf(value.Held))
        {
            if (SlotOf(site, holder) is not { } slot || runs(slot) is not { } run)
            {
                continue;
            }

            ulong bit = 1UL << site;
            rest &= ~bit;
            Passing passing = _body.Known.Summaries.Of(run, slot);
            if (passing == Passing.Escapes)
            {
                Escape(Holding.Holder(bit));
                continue;
            }

            if (passing != Passing.Mentioned && !IsLast(run))
            {
                TouchOwner(access, new Holding(0, bit, 0));
            }

            given.Returned |= passing == Passing.Returned ? new Holding(0, bit, 0) : default;
            given.ToResult |= passing == Passing.Held ? bit : 0;
            given.ToTask |= passing == Passing.HeldByTask ? bit : 0;
        }

        return new Holding(value.Own, value.Memory, value.Raw, value.Uncertain, rest);
    }

    // These use the buffer only if something is left to do; the surrounding code may know that nothing is.
    private static bool IsLast(ISymbol run) =>
        run is IMethodSymbol { Name: "Dispose" or "DisposeAsync" or "Close" or "Flush" or "FlushAsync" };

    /// <summary>Evaluates a field or property of an object that holds buffers.</summary>
    private Holding EvaluateMemberInside(IMemberReferenceOperation access, ISymbol member, Holding holder, ITypeSymbol? type)
    {
        Given given = default;
        bool isField = member is IFieldSymbol || OwningTypes.IsAutomatic(member);
        if (!isField && !_members.IsKnown(member))
        {
            bool isWritten = access.Parent is ISimpleAssignmentOperation assignment && assignment.Target == access;
            IMethodSymbol? accessor = member is IPropertySymbol property ? OwningTypes.Accessor(property, isWritten) : null;
            holder = GiveInside(access, access.Instance, holder, slot => accessor is null ? null : slot.Runs(accessor), ref given);
        }
        else if (isField)
        {
            ulong rest = holder.Held;
            foreach (int site in SitesOf(holder.Held))
            {
                if (SlotOf(site, access.Instance) is { } slot)
                {
                    // Other members have nothing to do with the buffer.
                    ulong bit = 1UL << site;
                    rest &= ~bit;
                    given.Returned |= !slot.Has(member) ? default
                        : _types.IsMemory(type) ? new Holding(0, bit, 0)
                        : EscapeFrom(bit);
                }
            }

            holder = new Holding(holder.Own, holder.Memory, holder.Raw, holder.Uncertain, rest);
        }

        bool returnsRef = member is IPropertySymbol { ReturnsByRef: true } or IPropertySymbol { ReturnsByRefReadonly: true };
        Holding result = ResultOfHolder(access, type, given, returnsRef);
        return holder.Held == 0 ? result : result | EvaluateInside(holder, type);
    }

    // The owner itself, which may be disposed now; or another object that has the buffer.
    private Holding EscapeFrom(ulong site)
    {
        Escape(Holding.Holder(site));
        return default;
    }

    // A value that is taken out of an object may be the buffer. A number, or whether a task has ended, is not.
    private Holding EvaluateInside(Holding holder, ITypeSymbol? type)
    {
        State.Settle(holder.Held);
        if (_types.CanShow(type) && (!_body.Known.IsRaw(type) || _types.CanKeep(type)))
        {
            Escape(holder);
        }

        return default;
    }
}
