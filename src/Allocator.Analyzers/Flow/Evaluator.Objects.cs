using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>New objects and collections: what they hold, and what they take over.</summary>
internal sealed partial class Evaluator
{
    private Holding EvaluateCreation(IObjectCreationOperation creation)
    {
        bool isRaw = _body.Known.IsRaw(creation.Type);
        if (!isRaw)
        {
            ForgetStores();
        }

        Holding value = default;
        Holding taken = default;
        ulong held = 0;
        ulong placed = 0;
        foreach (IArgumentOperation argument in creation.Arguments)
        {
            Holding part = Evaluate(argument.Value, asLocation: argument.IsByReference() || _body.Known.IsRaw(argument.Value.Type));
            value |= part;
            ulong kept = GiveToConstructor(creation, argument, part, ref taken);
            held |= kept;
            placed |= Place(creation, argument, part, kept);
        }

        if (creation.Initializer is not null)
        {
            EscapeChildren(creation.Initializer);
        }

        if (_types.IsMemory(creation.Type))
        {
            return new Holding(0, held, 0);
        }

        // An address that was converted to a number is not followed.
        bool isNumber = creation.Type?.SpecialType is SpecialType.System_IntPtr or SpecialType.System_UIntPtr;
        if (!isNumber && (!isRaw || creation.Constructor is null || !_members.IsKnown(creation.Constructor)))
        {
            Touch(creation, value);
        }

        // It owns what it took over, just as it owns what it creates.
        Holding made = Hold(held, _members.LeavesOpen(creation) ? 0 : value.Own & held & ~placed);
        if (isRaw)
        {
            return made | new Holding(0, 0, value.Raw);
        }

        ulong site = _body.Sites.BitOf(creation);
        ulong own = taken.Own | (site == 0 ? 0 : Allocate(creation, site).Own);
        return new Holding(own, taken.Memory, 0, taken.Uncertain, made.Held);
    }

    private ulong GiveToConstructor(IObjectCreationOperation creation, IArgumentOperation argument, Holding value, ref Holding taken)
    {
        if (value.Keep == 0)
        {
            return 0;
        }

        if (_types.IsStream(argument.Parameter?.Type) && creation.Constructor is { } constructor && _members.IsOfBaseLibrary(constructor))
        {
            // The constructor asks the stream whether it can be read or written.
            TouchOwner(creation, value);
        }

        if (_types.IsMemory(creation.Type) || _types.IsTask(creation.Type) || _members.LeavesOpen(creation)
            || (creation.Type is { Name: "ReadOnlyMemoryContent" or "KeyValuePair" or "Tuple" } type && _members.IsOfBaseLibrary(type)))
        {
            return value.Keep;
        }

        Passing passing = _body.Known.Summaries.Of(argument.Parameter);
        if (passing is Passing.Escapes or Passing.Refilled or Passing.Disposed)
        {
            Escape(value);
        }
        else
        {
            TouchOwner(creation, value);
        }

        if (passing == Passing.Returned && value.Held == 0)
        {
            taken = new Holding(taken.Own | value.Own, taken.Memory | value.Memory, 0, taken.Uncertain | value.Uncertain);
            return 0;
        }

        return passing is Passing.Held or Passing.Returned ? value.Keep : 0;
    }

    /// <summary>Notes where in the new object an argument is.</summary>
    /// <returns>The allocations that only a member of the object can dispose.</returns>
    private ulong Place(IObjectCreationOperation creation, IArgumentOperation argument, Holding part, ulong kept)
    {
        if (kept == 0 || creation.Type is not INamedTypeSymbol { DeclaringSyntaxReferences.IsEmpty: false } type)
        {
            return 0;
        }

        Slot slot = _body.Known.Holders.SlotOf(type, part.Held == 0 ? argument.Parameter : null);
        NoteSlot(kept, slot);
        return slot.IsKnown && !HolderTable.HasFinalizer(type)
            && _body.Known.Summaries.Of(creation.Constructor, slot) is Passing.Borrowed or Passing.Mentioned ? kept : 0;
    }

    /// <summary>Returns an object that holds <paramref name="sites"/>. If it has the owner, it may dispose it.</summary>
    private Holding Hold(ulong sites, ulong owners)
    {
        EverEscaped |= owners;
        State.Handed |= owners;
        return Holding.Holder(sites);
    }

    private Holding EvaluateContainer(IOperation container, IEnumerable<IOperation> parts)
    {
        bool keepsItems = _types.CanKeepComplete(container.Type);
        ulong held = 0;
        ulong owners = 0;
        foreach (IOperation part in parts)
        {
            bool isSpread = part.Syntax is SpreadElementSyntax;
            Holding value = Evaluate(isSpread ? part.ChildOperations.First() : part, asLocation: isSpread);
            if (isSpread)
            {
                Touch(part, value);
                TouchOwner(part, value);
            }

            held |= value.Keep;
            owners |= value.Own;
        }

        // A query over a buffer that computes an array of numbers keeps nothing of the buffer.
        return keepsItems ? Hold(held, owners) : default;
    }
}
