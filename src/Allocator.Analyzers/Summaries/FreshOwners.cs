using System.Collections.Generic;
using System.Linq;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Summaries;

/// <summary>Recognizes the methods that are factories though nothing marks them: all that they return is a new owner, or null.</summary>
internal sealed class FreshOwners
{
    private readonly KnownSymbols _known;
    private readonly MethodBodies _bodies;
    private readonly HashSet<IMethodSymbol> _running = new(SymbolEqualityComparer.Default);

    public FreshOwners(KnownSymbols known, MethodBodies bodies)
    {
        _known = known;
        _bodies = bodies;
    }

    /// <summary>Returns whether all that a method returns is a new owner. A method that calls itself is none.</summary>
    public bool AreMadeBy(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        ITypeSymbol result = _known.Types.ResultOfTask(definition.ReturnType) ?? definition.ReturnType;
        if (!_known.Types.IsBuffer(result) || _bodies.Of(definition) is not { IsIterator: false } body || !_running.Add(definition))
        {
            return false;
        }

        bool isFresh = false;
        foreach (IReturnOperation returning in body.Returns)
        {
            if (returning.ReturnedValue is not { } value || !IsFresh(value, body, definition, out bool isNull))
            {
                _running.Remove(definition);
                return false;
            }

            isFresh |= !isNull;
        }

        _running.Remove(definition);
        return isFresh;
    }

    private bool IsFresh(IOperation value, MethodBody body, IMethodSymbol method, out bool isNull)
    {
        isNull = value.IsNull() || value is IThrowOperation or IDefaultValueOperation;
        if (isNull)
        {
            return true;
        }

        switch (value)
        {
            case IConversionOperation { OperatorMethod: null } conversion:
                return IsFresh(conversion.Operand, body, method, out isNull);
            case IConditionalOperation { WhenFalse: { } whenFalse } conditional:
                bool isFirst = IsFresh(conditional.WhenTrue, body, method, out bool isFirstNull);
                bool isSecond = IsFresh(whenFalse, body, method, out bool isSecondNull);
                isNull = isFirstNull && isSecondNull;
                return isFirst && isSecond;
            case IAwaitOperation awaiting:
                return awaiting.AwaitedCall() is { } awaited && IsFactory(awaited.TargetMethod);
            case IInvocationOperation { TargetMethod: { Name: "AsTask" }, Instance: { } task }:
                return IsFresh(task, body, method, out isNull);
            case ISwitchExpressionOperation choice:
                isNull = choice.Arms.All(arm => arm.Value.IsNull());
                return choice.Arms.All(arm => IsFresh(arm.Value, body, method, out _));
            case IInvocationOperation call when Passed(call) is { } passed:
                return IsFresh(passed, body, method, out isNull);
            case IInvocationOperation call:
                return IsFactory(call.TargetMethod)
                    && _known.Types.IsTask(call.TargetMethod.ReturnType) == (!method.IsAsync && _known.Types.IsTask(method.ReturnType));
            case ILocalReferenceOperation { Local: { RefKind: RefKind.None } local }:
                return IsFreshLocal(local, body, method);
            default:
                return false;
        }
    }

    // Gives the owner that a call returns as it was given it, filled perhaps.
    private IOperation? Passed(IInvocationOperation call) => call.Arguments.FirstOrDefault(argument =>
        argument.Value is IInvocationOperation && _known.Types.CanKeep(call.Type)
        && _known.Summaries.Of(argument.Parameter) == Passing.Returned)?.Value;

    private bool IsFreshLocal(ILocalSymbol local, MethodBody body, IMethodSymbol method)
    {
        bool isFresh = false;
        foreach (IOperation? value in body.Values(local))
        {
            if (value is null or ILocalReferenceOperation || !IsFresh(value, body, method, out bool isNull))
            {
                return false;
            }

            isFresh |= !isNull;
        }

        return isFresh && DisposedAsideOnly(local, body)
            && !ValueTrace.Of(local, body, _known, _known.Summaries.Of, method).Escapes;
    }

    // Before an exception or another return; what is disposed on the way that returns it is not handed to the caller.
    private bool DisposedAsideOnly(ILocalSymbol local, MethodBody body)
    {
        foreach (IOperation reference in body.References(local))
        {
            if (reference.Parent is IInvocationOperation call && _known.Members.IsDispose(call.TargetMethod)
                && call.Syntax.Ancestors().All(node => node is not (CatchClauseSyntax or IfStatementSyntax)))
            {
                return false;
            }
        }

        return true;
    }

    private bool IsFactory(IMethodSymbol method) => _known.Factories.IsMarkedOrFresh(method, this);
}
