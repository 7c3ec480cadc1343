using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Summaries;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Checks;

/// <summary>Factories that make nothing for some arguments, as <c>Open(path, 0)</c> that returns null for a length of 0.</summary>
internal static class NullFactory
{
    /// <summary>Returns whether a constant argument may make a call return null.</summary>
    public static bool MayMakeNothing(IOperation operation, KnownSymbols known)
    {
        IInvocationOperation? call = operation is IAwaitOperation awaiting ? awaiting.AwaitedCall() : operation as IInvocationOperation;
        return call is not null && !known.Factories.IsDeclared(call.TargetMethod)
            && (call.TargetMethod.ReturnNullableAnnotation != NullableAnnotation.NotAnnotated
                || known.Types.IsTask(call.TargetMethod.ReturnType))
            && known.Bodies.Of(call.TargetMethod) is { } body && ReturnsNull(body)
            && call.Arguments.Any(argument => argument.Parameter is { } parameter && argument.Value.Strip().ConstantValue.HasValue
                && IsInCondition(parameter, body));
    }

    private static bool ReturnsNull(MethodBody body) => body.Returns.Any(returning => returning.ReturnedValue is { } value
        && value.DescendantsAndSelf().Any(part => IsNothing(part)
            || (part is ILocalReferenceOperation { Local: var local } && body.Values(local).Any(one => one is null || IsNothing(one)))));

    private static bool IsNothing(IOperation value) => value.IsNull() || value is IDefaultValueOperation;

    private static bool IsInCondition(IParameterSymbol parameter, MethodBody body) =>
        body.References(SummaryTable.DefinitionOf(parameter)).Any(static reference =>
        {
            IOperation child = reference;
            for (IOperation? parent = reference.Parent; parent is not null; child = parent, parent = parent.Parent)
            {
                if ((parent is IConditionalOperation choice && choice.Condition == child)
                    || (parent is ISwitchOperation many && many.Value == child)
                    || (parent is ISwitchExpressionOperation arms && arms.Value == child)
                    || parent is IWhileLoopOperation or IForLoopOperation or ISwitchExpressionArmOperation)
                {
                    return true;
                }
            }

            return false;
        });
}
