using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>Members and conversions that turn one kind of value into another.</summary>
internal sealed partial class Evaluator
{
    /// <summary>
    /// Returns what backs the result of a known member, depending on its type: memory keeps the owner, a span does not, a number is
    /// independent of it.
    /// </summary>
    private Holding View(IOperation operation, Holding source, ITypeSymbol? type)
    {
        if (_types.IsMemory(type))
        {
            return source.AsMemory();
        }

        if (_body.Known.IsRaw(type))
        {
            TouchOwner(operation, source);
            return source.AsRaw();
        }

        if (type is ITypeParameterSymbol or { IsReferenceType: true, SpecialType: SpecialType.None } && !_types.IsAllocator(type))
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
            ForgetStoresBy(property.Property);
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
            return EvaluateMemberInside(property, property.Property, source, property.Type);
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

        if (_members.ThrowsOnceDisposed(property.Property)
            || (property.Property.IsIndexer && _types.IsArraySegment(property.Instance?.Type)))
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
            EscapeByCollection(access.Type, given.Returned);
        }
        else
        {
            bool isWritten = access.Parent is ISimpleAssignmentOperation assignment && assignment.Target == access;
            GiveReceiver(access, OwningTypes.Accessor(property, isWritten), source, ref given);
        }

        bool returnsRef = property is { ReturnsByRef: true } or { ReturnsByRefReadonly: true };
        return given.ToResult != 0 ? Hold(given.ToResult, 0) : ResultOfSource(access, access.Type, returnsRef, given.Returned, asLocation);
    }

    // If a property of a user's own owner type returns a number, that keeps nothing. Any other may return the memory, or keep the
    // owner.
    private void EscapeUnlessPlain(Holding source, ITypeSymbol? type)
    {
        if (type is null or { SpecialType: SpecialType.None, TypeKind: not TypeKind.Enum })
        {
            Escape(source);
        }
    }

    // Code that gets the array or list of an object's buffers may remove a buffer from it.
    private void EscapeByCollection(ITypeSymbol? type, Holding owner)
    {
        if (CollectedType.ItemOf(type) is not null)
        {
            State.OwnerEscaped |= owner.Direct;
            Escape(owner);
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

        if (_body.Known.IsRaw(indexer.Type) || _types.IsMemory(indexer.Type))
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

    // A Slice of a user's own type is a call like any other: its result may be the owner, or may have taken over its memory.
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

        if (_body.Known.IsRaw(conversion.Type))
        {
            return _body.Known.IsRaw(conversion.Operand.Type) ? value : value.AsRaw();
        }

        if (conversion.Type is { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } && !_types.IsMemory(conversion.Type))
        {
            // A struct that owns is not followed through its `Value`.
            Escape(value);
            return default;
        }

        if (conversion.Type is { IsValueType: true } && !_types.IsMemory(conversion.Type) && !_body.Known.Owning.IsBuffer(conversion.Type))
        {
            // A pointer that became a number, an unboxed value, or a tuple.
            return Holding.Holder(value.Held);
        }

        return conversion.IsTryCast ? value.AsUncertain() : value;
    }

    private Holding EvaluateAwait(IAwaitOperation awaiting)
    {
        ulong site = _body.Sites.BitOf(awaiting);
        IInvocationOperation? outer = _awaited;
        _awaited = awaiting.AwaitedCall();
        Holding value = Evaluate(awaiting.Operation);
        Escape(new Holding(value.Own, value.Memory, value.Raw));
        if (_awaited is { TargetMethod.Name: "WaitAsync" } wait && _types.IsTask(wait.TargetMethod.ContainingType))
        {
            Interruptions?.Add(new Interruption(wait, State.Clone()));
        }

        bool isOneOfSeveral = IsFirstOfSeveral(awaiting.Operation);
        if (!isOneOfSeveral)
        {
            State.Settle(value.Held);
        }

        _awaited = outer;
        Hoist();
        return site != 0 ? Allocate(awaiting, site) : isOneOfSeveral ? Holding.Holder(value.Held) : default;
    }

    // The first of several tasks has ended and the others continue. Tasks in a collection may have been awaited one by one.
    private bool IsFirstOfSeveral(IOperation awaited)
    {
        while (awaited.Strip() is IInvocationOperation { TargetMethod.Name: "ConfigureAwait", Instance: { } inner })
        {
            awaited = inner;
        }

        return (_variables.OnlyValue(awaited) ?? awaited).Strip() is IInvocationOperation
        {
            TargetMethod: { Name: "WhenAny", ContainingType.Name: "Task" } method,
        } call && _members.IsOfBaseLibrary(method)
            && (call.Arguments.Length > 1 || call.Arguments[0].ArgumentKind == ArgumentKind.ParamArray);
    }

    // A variable that lives across an await or yield is in an object on the heap: reachable, but still to be disposed.
    private void Hoist()
    {
        ForgetStores();
        for (int i = 0; i < State.Count; i++)
        {
            State.Reachable |= State[i].Keep;
        }
    }
}
