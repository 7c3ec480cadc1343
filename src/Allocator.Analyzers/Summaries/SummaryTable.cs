using System.Collections.Concurrent;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// What methods do with their arguments, if their source is in the compilation. Each parameter is examined once, when a call first needs
/// it. The answer depends on the source alone, whatever thread asks first.
/// </summary>
internal sealed class SummaryTable
{
    private readonly KnownSymbols _known;
    private readonly MethodBodies _bodies;
    private readonly ConcurrentDictionary<Subject, Passing> _passings = new();

    public SummaryTable(KnownSymbols known)
    {
        _known = known;
        _bodies = known.Bodies;
    }

    /// <summary>
    /// Returns what a call does with the argument for a parameter of a method of the compilation; or what a method, an accessor or a
    /// constructor does with its object, if that owns buffers or has one in <paramref name="slot"/>. For such an object
    /// the named method is assumed to be the one that runs.
    /// </summary>
    public Passing Of(ISymbol? subject, Slot? slot = null) => subject is null ? Passing.Escapes : new Resolution(this).Of(subject, slot);

    /// <summary>Returns the parameter or method of the partial definition that has the body.</summary>
    public static ISymbol DefinitionOf(ISymbol subject)
    {
        if (subject is not IParameterSymbol parameter)
        {
            return MethodBodies.DefinitionOf((IMethodSymbol)subject);
        }

        IMethodSymbol method = (IMethodSymbol)parameter.ContainingSymbol;
        if (method.ReducedFrom is { } full)
        {
            // An extension method that is called as a member has one parameter less.
            return full.OriginalDefinition.Parameters[parameter.Ordinal + 1];
        }

        method = method.OriginalDefinition;
        return (method.PartialImplementationPart ?? method).Parameters[parameter.Ordinal];
    }

    private bool IsReturnedBy(IMethodSymbol method, ISymbol subject) => SymbolEqualityComparer.Default.Equals(
        _known.Origins.ViewedBy(method), subject is IMethodSymbol ? method.ContainingType : subject);

    /// <summary>One question. If methods call each other in a cycle, the one that is being examined is assumed to borrow.</summary>
    private sealed class Resolution
    {
        private readonly SummaryTable _table;
        private readonly Question<Subject, Passing> _question;

        public Resolution(SummaryTable table)
        {
            _table = table;
            _question = new Question<Subject, Passing>(table._passings);
        }

        /// <summary>Returns what happens to a parameter, or to the object of the method.</summary>
        public Passing Of(ISymbol subject, Slot? slot)
        {
            if (subject is IParameterSymbol and not { RefKind: RefKind.None or RefKind.In, ContainingSymbol: IMethodSymbol })
            {
                return Passing.Escapes;
            }

            Subject definition = new(DefinitionOf(subject), slot);
            return _question.Ask(definition, Passing.Borrowed, () => Resolve(definition.Symbol, slot));
        }

        private Passing Resolve(ISymbol subject, Slot? slot)
        {
            IMethodSymbol method = subject as IMethodSymbol ?? (IMethodSymbol)subject.ContainingSymbol;
            IParameterSymbol? parameter = subject as IParameterSymbol;
            if (parameter is not null && method.MethodKind == MethodKind.Constructor
                && PrimaryConstructor.Declares(method, _table._bodies))
            {
                Passing given = PrimaryConstructor.PassingOf(parameter, _table._bodies);
                return given == Passing.Held && _table._known.Owning.Takes(parameter) ? Passing.Returned : given;
            }

            // What all methods that the call may run have in common. A single overridable method proves nothing about the others; two that
            // agree are accepted.
            Passing? all = _table._bodies.Of(method) is { } body ? OfBody(method, subject, slot, body) : null;
            if (all is null && parameter is null && method.MethodKind == MethodKind.Constructor
                && !method.ContainingType.DeclaringSyntaxReferences.IsEmpty)
            {
                // The base class's constructor runs too: it may register the object.
                return _table._bodies.UnnamedBaseOf(method) is { } parent && !_table._known.Members.IsOfBaseLibrary(parent)
                    ? Of(parent, slot) : Passing.Mentioned;
            }

            if (slot is not null && parameter is null)
            {
                return all ?? Passing.Escapes;
            }

            int seen = all is null ? 0 : 1;
            foreach (IMethodSymbol overriding in _table._bodies.Overriding(method))
            {
                Passing one = Of(parameter is null ? overriding : overriding.Parameters[parameter.Ordinal], slot);
                all = all is { } others ? Common(others, one) : one;
                seen++;
            }

            // Nor does a parameter that the body does not use.
            bool isPromised = !MethodBodies.MayBeOverridden(method) || (seen > 1 && all != Passing.Mentioned);
            return isPromised && all is { } passing ? passing : Passing.Escapes;
        }

        private static Passing Common(Passing one, Passing other) => one == other ? one
            : IsForTheCall(one) && IsForTheCall(other) ? Passing.Borrowed
            : one == Passing.HeldByTask && IsForTheCall(other) ? one
            : other == Passing.HeldByTask && IsForTheCall(one) ? other
            : Passing.Escapes;

        private static bool IsForTheCall(Passing passing) => passing is Passing.Borrowed or Passing.Mentioned;

        private Passing OfBody(IMethodSymbol method, ISymbol subject, Slot? slot, MethodBody body)
        {
            if (subject is IParameterSymbol parameter && _table._known.IsRaw(parameter.Type)
                && !_table._known.Types.CanKeep(parameter.Type))
            {
                return _table.IsReturnedBy(method, parameter) ? Passing.Returned : Passing.Borrowed;
            }

            ValueTrace trace = ValueTrace.Of(subject, body, _table._known, Of, method, slot);
            bool isRefilled = trace.IsRefilled && method.MethodKind != MethodKind.Constructor;
            bool isDisposed = trace is { Disposes: true, Escapes: false, IsReturned: false, IsHeldByResult: false, IsHeldByTask: false };
            return isDisposed && slot is null && subject is IParameterSymbol given && Certainty.IsDisposed(given, method, body)
                ? Passing.Disposed
                : trace.Escapes || (trace.Disposes && !isRefilled) ? Passing.Escapes
                : isRefilled ? OfRefilled(method, PassingOf(method, subject, body, trace))
                : slot is not null && IsViewOf(slot, method, body) ? Passing.Returned
                : PassingOf(method, subject, body, trace);
        }

        // A view of the new buffer is not followed. The buffer itself would belong to the caller.
        private Passing OfRefilled(IMethodSymbol method, Passing passing) => IsForTheCall(passing)
            || (passing == Passing.Returned && IsView(method.ReturnType)) ? Passing.Refilled : Passing.Escapes;

        private bool IsView(ITypeSymbol type) => _table._known.IsRaw(type) || _table._known.Types.IsMemory(type);

        // `Memory<byte> Row(int y) => _memory.Slice(y * _width, _width);`
        private bool IsViewOf(Slot slot, IMethodSymbol method, MethodBody body)
        {
            bool isView = body.Returns.Count == 1 && _table._known.Types.CanShow(method.ReturnType);
            IOperation? value = isView ? body.Returns[0].ReturnedValue : null;
            while (value is not null)
            {
                if ((value as IMemberReferenceOperation)?.Member is { } member && slot.Has(member))
                {
                    return true;
                }

                if (value is IParameterReferenceOperation { Parameter: var captured } && slot.Has(captured))
                {
                    return true;
                }

                value = value switch
                {
                    IConversionOperation { OperatorMethod: var by } conversion when by is null || _table._known.Members.IsKnown(by) =>
                        conversion.Operand,
                    IPropertyReferenceOperation property when _table._known.Members.IsKnown(property.Property) => property.Instance,
                    IInvocationOperation call when _table._known.Members.IsView(call.TargetMethod) =>
                        call.Instance ?? call.Arguments.FirstOrDefault()?.Value,
                    _ => null,
                };
            }

            return false;
        }

        private Passing PassingOf(IMethodSymbol method, ISymbol subject, MethodBody body, ValueTrace trace)
        {
            if (trace.IsTakenOver)
            {
                return trace.IsHeldByResult ? Passing.Escapes : Passing.Returned;
            }

            if (method.IsAsync)
            {
                return trace.IsReturned || trace.IsHeldByResult || body.IsIterator ? Passing.Escapes
                    : trace.IsUsedLate || trace.IsHeldByTask ? Passing.HeldByTask
                    : Passing.Borrowed;
            }

            if (body.IsIterator)
            {
                return Passing.Held;
            }

            if (_table.IsReturnedBy(method, subject))
            {
                return Passing.Returned;
            }

            // If only some paths return it, it is neither the caller's nor lost.
            return trace.IsReturned ? Passing.Escapes
                : trace.IsHeldByTask ? Passing.HeldByTask
                : trace.IsHandedOut ? trace.IsHeldByResult ? Passing.Escapes : Passing.HandedOut
                : trace.IsHeldByResult ? Passing.Held
                : trace.IsTouched ? Passing.Borrowed
                : Passing.Mentioned;
        }
    }
}
