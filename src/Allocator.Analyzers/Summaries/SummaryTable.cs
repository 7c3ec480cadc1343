using System.Collections.Concurrent;
using System.Collections.Generic;
using Allocator.Analyzers.Symbols;
using Microsoft.CodeAnalysis;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// What the methods whose source is in the compilation do with what they are given. Each parameter is looked at once, when a call first
/// asks for it, by whatever thread; an answer depends on the source alone and not on who asked first.
/// </summary>
internal sealed class SummaryTable
{
    private readonly KnownSymbols _known;
    private readonly MethodBodies _bodies;
    private readonly ConcurrentDictionary<IParameterSymbol, Passing> _passings = new(SymbolEqualityComparer.Default);
    private readonly ConcurrentDictionary<IMethodSymbol, IParameterSymbol?> _origins = new(SymbolEqualityComparer.Default);

    public SummaryTable(KnownSymbols known, MethodBodies bodies)
    {
        _known = known;
        _bodies = bodies;
    }

    /// <summary>Returns what a call does with the argument for a parameter of a method of the compilation.</summary>
    public Passing Of(IParameterSymbol? parameter) =>
        parameter is not { RefKind: RefKind.None or RefKind.In, ContainingSymbol: IMethodSymbol } ? Passing.Escapes
        : _passings.TryGetValue(DefinitionOf(parameter), out Passing known) ? known
        : new Resolution(this).Of(parameter);

    private static IParameterSymbol DefinitionOf(IParameterSymbol parameter)
    {
        IMethodSymbol method = (IMethodSymbol)parameter.ContainingSymbol;
        if (method.ReducedFrom is { } full)
        {
            // An extension method has one parameter less where it is called as a member.
            return full.OriginalDefinition.Parameters[parameter.Ordinal + 1];
        }

        method = method.OriginalDefinition;
        return (method.PartialImplementationPart ?? method).Parameters[parameter.Ordinal];
    }

    /// <summary>Returns the parameter that a method returns a view of on all paths, or null.</summary>
    private bool IsReturnedBy(IMethodSymbol method, IParameterSymbol parameter) =>
        SymbolEqualityComparer.Default.Equals(_origins.GetOrAdd(method, one => ViewOrigin.Of(one, _known, _bodies)), parameter);

    /// <summary>
    /// One question, with all that it leads to. A method that is being looked at is taken to borrow where it is asked for again; what was
    /// found on that assumption is for this question alone, so that no answer depends on where in a cycle of calls the asking began.
    /// </summary>
    private sealed class Resolution
    {
        private readonly SummaryTable _table;
        private readonly HashSet<IParameterSymbol> _running = new(SymbolEqualityComparer.Default);
        private readonly Dictionary<IParameterSymbol, Passing> _provisional = new(SymbolEqualityComparer.Default);
        private bool _assumed;

        public Resolution(SummaryTable table) => _table = table;

        public Passing Of(IParameterSymbol parameter)
        {
            if (parameter is not { RefKind: RefKind.None or RefKind.In, ContainingSymbol: IMethodSymbol })
            {
                return Passing.Escapes;
            }

            IParameterSymbol definition = DefinitionOf(parameter);
            if (_table._passings.TryGetValue(definition, out Passing known))
            {
                return known;
            }

            if (_provisional.TryGetValue(definition, out Passing provisional) || !_running.Add(definition))
            {
                _assumed = true;
                return provisional == Passing.Escapes && _running.Contains(definition) ? Passing.Borrowed : provisional;
            }

            bool assumedBefore = _assumed;
            _assumed = false;
            Passing passing = Resolve(definition);
            _running.Remove(definition);
            if (_assumed && _running.Count > 0)
            {
                _provisional[definition] = passing;
            }
            else
            {
                _table._passings.TryAdd(definition, passing);
            }

            _assumed |= assumedBefore;
            return passing;
        }

        private Passing Resolve(IParameterSymbol parameter)
        {
            IMethodSymbol method = (IMethodSymbol)parameter.ContainingSymbol;
            if (method.MethodKind == MethodKind.Constructor && PrimaryConstructor.Declares(method, _table._bodies))
            {
                return PrimaryConstructor.PassingOf(parameter, _table._bodies);
            }

            if (_table._bodies.Of(method) is not { } body)
            {
                return Passing.Escapes;
            }

            if (_table._known.Types.IsRaw(parameter.Type))
            {
                return _table.IsReturnedBy(method, parameter) ? Passing.Returned : Passing.Borrowed;
            }

            ValueTrace trace = ValueTrace.Of(parameter, body, _table._known, Of, method);
            return trace.Escapes || trace.Disposes ? Passing.Escapes : PassingOf(method, parameter, body, trace);
        }

        private Passing PassingOf(IMethodSymbol method, IParameterSymbol parameter, MethodBody body, ValueTrace trace)
        {
            if (method.IsAsync)
            {
                return trace.IsReturned || trace.IsHeldByResult || method.ReturnsVoid || body.IsIterator ? Passing.Escapes
                    : trace.IsUsedLate || trace.IsHeldByTask ? Passing.HeldByTask
                    : Passing.Borrowed;
            }

            if (body.IsIterator)
            {
                return Passing.Held;
            }

            if (_table.IsReturnedBy(method, parameter))
            {
                return Passing.Returned;
            }

            // What only some paths return is neither the caller's nor gone.
            return trace.IsReturned ? Passing.Escapes
                : trace.IsHeldByTask ? Passing.HeldByTask
                : trace.IsHeldByResult ? Passing.Held
                : trace.IsTouched ? Passing.Borrowed
                : Passing.Mentioned;
        }
    }
}
