using System.Collections.Generic;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Flow;

/// <summary>Members and conversions that make one kind of value of another.</summary>
internal sealed partial class Evaluator
{
    /// <summary>
    /// Gives what a known member's result is backed by. Its type says it: memory keeps the owner, a span does not, a number is nothing.
    /// </summary>
    private Holding View(IOperation operation, Holding source, ITypeSymbol? type)
    {
        if (_types.IsMemory(type))
        {
            return source.AsMemory();
        }

        if (_types.IsRaw(type))
        {
            TouchOwner(operation, source);
            return source.AsRaw();
        }

        if (type is ITypeParameterSymbol or { IsReferenceType: true, SpecialType: SpecialType.None })
        {
            Escape(source);
        }

        return default;
    }

    private Holding EvaluateProperty(IPropertyReferenceOperation property, bool asLocation)
    {
        bool isKnown = _members.IsKnown(property.Property);
        if (!isKnown)
        {
            ForgetStores();
        }

        Holding source = property.Instance is null ? default : Evaluate(property.Instance, asLocation: true);
        foreach (IArgumentOperation argument in property.Arguments)
        {
            Escape(Evaluate(argument.Value));
        }

        if (source.All == 0)
        {
            return default;
        }

        if (source.Held != 0)
        {
            return EvaluateInside(source, property.Type);
        }

        if (_body.Known.Owning.IsOwning(property.Property.ContainingType))
        {
            return EvaluateOwned(property, property.Property, source, asLocation);
        }

        if (!isKnown)
        {
            EscapeUnlessPlain(source, property.Type);
            return default;
        }

        if (_members.IsAddress(property.Property))
        {
            TouchOwner(property, source);
        }
        else if (_members.IsReleaseContext(property.Property))
        {
            Escape(source);
        }

        if (!property.Property.ReturnsByRef && !property.Property.ReturnsByRefReadonly)
        {
            return View(property, source, property.Type);
        }

        if (asLocation)
        {
            return source.AsRaw();
        }

        Touch(property, source.AsRaw());
        return default;
    }

    /// <summary>Evaluates a field or property of an object of the compilation that owns buffers.</summary>
    private Holding EvaluateOwned(IMemberReferenceOperation access, ISymbol member, Holding source, bool asLocation)
    {
        IPropertySymbol? property = member as IPropertySymbol;
        Given given = default;
        if (property is null || OwningTypes.IsAutomatic(property))
        {
            given.Returned = _body.Known.Owning.Owns(member.ContainingType, member) ? source.AsMemory() : default;
        }
        else
        {
            bool isWritten = access.Parent is ISimpleAssignmentOperation assignment && assignment.Target == access;
            GiveReceiver(access, OwningTypes.Accessor(property, isWritten), source, ref given);
        }

        bool returnsRef = property is { ReturnsByRef: true } or { ReturnsByRefReadonly: true };
        return given.ToResult != 0 ? Hold(given.ToResult, 0) : ResultOfSource(access, access.Type, returnsRef, given.Returned, asLocation);
    }

    // What is taken out of an object may be the buffer. A number, or whether a task has ended, is not.
    private Holding EvaluateInside(Holding holder, ITypeSymbol? type)
    {
        State.Settle(holder.Held);
        if (_types.CanShow(type))
        {
            Escape(holder);
        }

        return default;
    }

    // A property of a user's own owner type that returns a number keeps nothing; any other may return what keeps the owner, or be the
    // memory.
    private void EscapeUnlessPlain(Holding source, ITypeSymbol? type)
    {
        if (type is null or { SpecialType: SpecialType.None, TypeKind: not TypeKind.Enum })
        {
            Escape(source);
        }
    }

    private Holding EvaluateImplicitIndexer(IImplicitIndexerReferenceOperation indexer, bool asLocation)
    {
        Holding source = Evaluate(indexer.Instance, asLocation: true);
        Escape(Evaluate(indexer.Argument));
        if (!_members.IsKnown(indexer.IndexerSymbol))
        {
            return EvaluateOwnIndexer(indexer, source);
        }

        if (_types.IsRaw(indexer.Type) || _types.IsMemory(indexer.Type))
        {
            return View(indexer, source, indexer.Type);
        }

        if (asLocation)
        {
            return source;
        }

        Touch(indexer, source);
        return default;
    }

    // A Slice of a user's own type is a call as any other: what it returns may be the owner, or have taken its memory over.
    private Holding EvaluateOwnIndexer(IImplicitIndexerReferenceOperation indexer, Holding source)
    {
        ForgetStores();
        Touch(indexer, source);
        if (indexer.IndexerSymbol is IMethodSymbol)
        {
            Escape(source);
        }
        else
        {
            EscapeUnlessPlain(source, indexer.Type);
        }

        return default;
    }

    private Holding EvaluateConversion(IConversionOperation conversion, bool asLocation)
    {
        Holding value = Evaluate(conversion.Operand, asLocation);
        if (conversion.OperatorMethod is { } method && !_members.IsKnown(method))
        {
            Escape(value);
            return default;
        }

        if (_types.IsRaw(conversion.Type))
        {
            return _types.IsRaw(conversion.Operand.Type) ? value : value.AsRaw();
        }

        if (conversion.Type is { IsValueType: true } && !_types.IsMemory(conversion.Type) && !_body.Known.Owning.IsBuffer(conversion.Type))
        {
            // A pointer as a number, an unboxed value; or a tuple.
            return Holding.Holder(value.Held);
        }

        return conversion.IsTryCast ? value.AsUncertain() : value;
    }

    private Holding EvaluateCreation(IObjectCreationOperation creation)
    {
        bool isRaw = _types.IsRaw(creation.Type);
        if (!isRaw)
        {
            ForgetStores();
        }

        Holding value = default;
        Holding taken = default;
        ulong held = 0;
        foreach (IArgumentOperation argument in creation.Arguments)
        {
            Holding part = Evaluate(argument.Value, asLocation: argument.IsByReference() || _types.IsRaw(argument.Value.Type));
            value |= part;
            held |= GiveToConstructor(creation, argument, part, ref taken);
        }

        if (creation.Initializer is not null)
        {
            EscapeChildren(creation.Initializer);
        }

        if (_types.IsMemory(creation.Type))
        {
            return new Holding(0, held, 0);
        }

        // An address as a number is not followed to the memory.
        bool isNumber = creation.Type?.SpecialType is SpecialType.System_IntPtr or SpecialType.System_UIntPtr;
        if (!isNumber && (!isRaw || creation.Constructor is null || !_members.IsKnown(creation.Constructor)))
        {
            Touch(creation, value);
        }

        if (isRaw)
        {
            return new Holding(0, 0, value.Raw);
        }

        // What it took over is its own, as what it makes.
        Holding made = Hold(held, _members.LeavesOpen(creation) ? 0 : value.Own & held);
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

        if (_types.IsMemory(creation.Type) || _types.IsTask(creation.Type) || creation.Type?.Name == "ReadOnlyMemoryContent"
            || _members.LeavesOpen(creation))
        {
            return value.Keep;
        }

        Passing passing = _body.Known.Summaries.Of(argument.Parameter);
        if (passing == Passing.Escapes)
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

    /// <summary>Gives an object that holds <paramref name="sites"/>. What has the owner may dispose it.</summary>
    private Holding Hold(ulong sites, ulong owners)
    {
        EverEscaped |= owners;
        State.Handed |= owners;
        return Holding.Holder(sites);
    }

    private Holding EvaluateContainer(IOperation container, IEnumerable<IOperation> parts)
    {
        ulong held = 0;
        ulong owners = 0;
        foreach (IOperation part in parts)
        {
            bool isDrained = part.Syntax is SpreadElementSyntax && container.Type is not null && !_types.CanKeep(container.Type);
            Holding value = Evaluate(isDrained ? part.ChildOperations.First() : part);
            held |= value.Keep;
            owners |= value.Own;
        }

        // An array of numbers that a query over a buffer computes has nothing of it.
        return container.Type is null || _types.CanKeep(container.Type) ? Hold(held, owners) : default;
    }

    private Holding EvaluateAwait(IAwaitOperation awaiting)
    {
        ulong site = _body.Sites.BitOf(awaiting);
        IInvocationOperation? outer = _awaited;
        _awaited = awaiting.AwaitedCall();
        Holding value = Evaluate(awaiting.Operation);
        Escape(new Holding(value.Own, value.Memory, value.Raw));
        State.Settle(value.Held);
        _awaited = outer;
        Hoist();
        return site == 0 ? default : Allocate(awaiting, site);
    }

    // What lives across an await or yield lies in an object on the heap: reachable, though still to be disposed.
    private void Hoist()
    {
        ForgetStores();
        for (int i = 0; i < State.Count; i++)
        {
            State.Reachable |= State[i].Keep;
        }
    }
}
