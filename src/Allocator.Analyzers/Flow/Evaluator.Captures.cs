using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Flow;

/// <summary>Lambdas and method groups, which hold what they captured, and fields, which hold what they were given.</summary>
internal sealed partial class Evaluator
{
    private Holding EvaluateDelegate(IDelegateCreationOperation creation)
    {
        IOperation target = creation.Target.Strip();
        if (target is not IMethodReferenceOperation { Instance: { } instance, Method.MethodKind: not MethodKind.LocalFunction } named)
        {
            return Captured(target);
        }

        Holding receiver = Evaluate(instance, asLocation: true);
        if (receiver.All != 0 && !_members.IsKnown(named.Method) | _members.IsDispose(named.Method) && !BorrowsInside(named, receiver))
        {
            Escape(receiver);
        }

        return Hold(receiver.Keep, 0);
    }

    // A method that only reads the object, which holds or owns a buffer.
    private bool BorrowsInside(IMethodReferenceOperation named, Holding receiver)
    {
        if (receiver.Held == 0)
        {
            return _body.Known.Owning.IsOwning(named.Method.ContainingType)
                && _body.Known.Summaries.Of(named.Method) is Passing.Borrowed or Passing.Mentioned;
        }

        return receiver.Direct == 0 && SitesOf(receiver.Held).All(site => SlotOf(site, named.Instance) is { } slot
            && _body.Known.Summaries.Of(slot.Runs(named.Method), slot) is Passing.Borrowed or Passing.Mentioned);
    }

    private Holding Captured(IOperation function)
    {
        ulong held = 0;
        foreach ((_, int variable) in _variables.CapturedBy(function))
        {
            held |= State[variable].Keep;
        }

        return Holding.Holder(held);
    }

    /// <summary>Notes the use of disposed buffers by a function that runs now, whatever it is given.</summary>
    private void Run(IOperation access, IOperation? function)
    {
        MethodBody? body = Uses is null || State.SurelyDisposed == 0 ? null : function switch
        {
            IAnonymousFunctionOperation lambda => new MethodBody(lambda),
            IInvocationOperation { TargetMethod: var local } => _body.Known.Bodies.Of(local),
            _ => null,
        };
        if (body is null or { IsIterator: true }
            || body.Root.Descendants().Any(part => part is ICatchClauseOperation or IWhileLoopOperation))
        {
            return;
        }

        foreach ((ISymbol symbol, int variable) in _variables.CapturedBy(function!))
        {
            ulong disposed = State[variable].Keep & State.SurelyDisposed;
            if (disposed != 0
                && ValueTrace.Of(symbol, body, _body.Known, _body.Known.Summaries.Of, null) is { IsTouched: true, Escapes: false })
            {
                TouchOwner(access, new Holding(0, disposed, 0));
            }
        }
    }

    // The first lambda of a query runs for each item. Before the others, items may have been left out.
    private void RunQuery(IOperation access, IOperation? query)
    {
        IInvocationOperation? first = null;
        while (((query as ITranslatedQueryOperation)?.Operation ?? query)?.Strip() is IInvocationOperation call
            && call.TargetMethod is { ContainingType.Name: "Enumerable" } method && KnownTypes.IsLazy(method)
            && !call.Arguments.IsEmpty)
        {
            first = call;
            query = call.Arguments[0].Value;
        }

        foreach (IArgumentOperation argument in first?.Arguments ?? ImmutableArray<IArgumentOperation>.Empty)
        {
            Run(access, (argument.Value.Strip() as IDelegateCreationOperation)?.Target);
        }
    }

    // A part of a tuple or of an object, or the span in a ref struct.
    private Holding EvaluateField(IFieldReferenceOperation field, IOperation instance)
    {
        Holding source = Evaluate(instance, asLocation: true);
        if (source.Held != 0)
        {
            return EvaluateMemberInside(field, field.Field, source, field.Type);
        }

        if (source.Direct != 0 && _body.Known.Owning.IsOwning(field.Field.ContainingType))
        {
            return EvaluateOwned(field, field.Field, source, asLocation: true);
        }

        if (source.Raw != 0 && _body.Known.IsRaw(field.Type) && _body.Known.IsRaw(instance.Type))
        {
            return source.AsRaw();
        }

        Escape(source);
        return default;
    }
}
