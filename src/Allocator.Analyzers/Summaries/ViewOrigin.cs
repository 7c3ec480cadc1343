using System.Collections.Generic;
using Allocator.Analyzers.Symbols;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Summaries;

/// <summary>Finds the parameter whose memory a method returns, if it returns that of the same one on all paths.</summary>
internal sealed class ViewOrigin
{
    private readonly KnownSymbols _known;
    private readonly MethodBodies _bodies;

    // Calls of a method that is being looked at are taken to return what its other paths return.
    private readonly HashSet<IMethodSymbol> _running = new(SymbolEqualityComparer.Default);

    private ViewOrigin(KnownSymbols known, MethodBodies bodies)
    {
        _known = known;
        _bodies = bodies;
    }

    /// <summary>Returns the parameter, or null.</summary>
    public static IParameterSymbol? Of(IMethodSymbol method, KnownSymbols known, MethodBodies bodies) =>
        new ViewOrigin(known, bodies).OfMethod(method).Parameter;

    private Origin OfMethod(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        bool isReference = definition.ReturnsByRef || definition.ReturnsByRefReadonly;
        if (!isReference && !_known.Types.CanShow(definition.ReturnType))
        {
            return Origin.Unknown;
        }

        if (_bodies.Of(definition) is not { IsIterator: false } body || definition.IsAsync)
        {
            return Origin.Unknown;
        }

        if (!_running.Add(definition))
        {
            return Origin.Any;
        }

        Origin all = Origin.Any;
        foreach (IReturnOperation returning in body.Returns)
        {
            if (returning.ReturnedValue is { } value)
            {
                all = all.And(OfValue(value, body, isReference));
            }
        }

        _running.Remove(definition);
        return all;
    }

    private Origin OfValue(IOperation value, MethodBody body, bool isReference = false)
    {
        switch (value)
        {
            case { ConstantValue: { HasValue: true, Value: null } } or IDefaultValueOperation or IThrowOperation:
                return Origin.Any;
            case IParameterReferenceOperation { Parameter: var parameter }:
                return body.Values(parameter).Count == 0 ? Origin.Of(parameter) : Origin.Unknown;
            case ILocalReferenceOperation { Local: { RefKind: RefKind.None } local }:
                return body.OnlyValue(local) is { } assigned ? OfValue(assigned, body) : Origin.Unknown;
            case IConversionOperation conversion:
                return conversion.OperatorMethod is { } method && !_known.Members.IsKnown(method)
                    ? Origin.Unknown : OfValue(conversion.Operand, body);
            case IConditionalOperation { WhenFalse: { } whenFalse } conditional:
                return OfValue(conditional.WhenTrue, body, isReference).And(OfValue(whenFalse, body, isReference));
            case IPropertyReferenceOperation { Instance: { } instance } property:
                return IsView(property.Property, property.Type) || (isReference && _known.Members.IsKnown(property.Property))
                    ? OfValue(instance, body) : Origin.Unknown;
            case IImplicitIndexerReferenceOperation indexer:
                return OfValue(indexer.Instance, body);
            case IInvocationOperation call:
                return OfCall(call, body, isReference);
            default:
                return Origin.Unknown;
        }
    }

    private Origin OfCall(IInvocationOperation call, MethodBody body, bool isReference)
    {
        IMethodSymbol method = call.TargetMethod;
        if (IsView(method, call.Type) || (isReference && _known.Members.IsKnown(method)))
        {
            // Of what a known member is given, one is the memory and the rest are numbers.
            Origin all = call.Instance is null ? Origin.Any : OfValue(call.Instance, body);
            foreach (IArgumentOperation argument in call.Arguments)
            {
                if (_known.Types.CanShow(argument.Value.Type))
                {
                    all = all.And(OfValue(argument.Value, body));
                }
            }

            return all;
        }

        Origin origin = _known.Members.IsKnown(method) ? Origin.Unknown : OfMethod(method);
        if (origin.Parameter is not { } shown)
        {
            return origin;
        }

        foreach (IArgumentOperation argument in call.Arguments)
        {
            if (argument.Parameter?.Ordinal == shown.Ordinal)
            {
                return OfValue(argument.Value, body);
            }
        }

        return Origin.Unknown;
    }

    private bool IsView(ISymbol member, ITypeSymbol? type) =>
        _known.Members.IsKnown(member) && (_known.Types.IsRaw(type) || _known.Types.IsMemory(type)) && !_known.Types.IsMemoryHandle(type);

    /// <summary>A parameter, or none that is known, or no restriction at all: an empty span, a recursive call.</summary>
    private readonly struct Origin
    {
        private readonly bool _isUnknown;

        private Origin(IParameterSymbol? parameter, bool isUnknown)
        {
            Parameter = parameter;
            _isUnknown = isUnknown;
        }

        public static Origin Any => default;

        public static Origin Unknown => new(null, isUnknown: true);

        public IParameterSymbol? Parameter { get; }

        public static Origin Of(IParameterSymbol parameter) => new(parameter, isUnknown: false);

        public Origin And(Origin other)
        {
            if (_isUnknown || other._isUnknown)
            {
                return Unknown;
            }

            return Parameter is null ? other
                : other.Parameter is null || SymbolEqualityComparer.Default.Equals(Parameter, other.Parameter) ? this
                : Unknown;
        }
    }
}
