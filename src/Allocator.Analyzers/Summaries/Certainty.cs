using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>What a method does every time it runs, unless the value is null or this was already done.</summary>
internal static class Certainty
{
    /// <summary>Returns whether an operation runs each time its method does, unless its value is null or it was done before.</summary>
    public static bool IsCertain(IOperation operation, MethodBody body, bool inLoops = false)
    {
        IOperation child = operation;
        for (IOperation? parent = operation.Parent; parent is not null && child != body.Root; child = parent, parent = parent.Parent)
        {
            bool isCertain = parent switch
            {
                IConditionalOperation choice => choice.WhenTrue == child && IsGuard(choice.Condition, body),
                // Inside a loop over the items, it runs for each of them.
                IForEachLoopOperation or IForLoopOperation => inLoops,
                ITryOperation attempt => attempt.Body == child || attempt.Finally == child,
                IBlockOperation or IExpressionStatementOperation or IConditionalAccessOperation or ILockOperation or ITupleOperation
                    or IAssignmentOperation or IArgumentOperation or IInvocationOperation or IMethodBodyBaseOperation => true,
                _ => false,
            };
            if (!isCertain)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Returns whether a method has disposed a parameter whenever it returns.</summary>
    public static bool IsDisposed(IParameterSymbol parameter, IMethodSymbol method, MethodBody body) =>
        !method.IsAsync && !body.IsIterator && body.Values(parameter).Count == 0
        && body.Returns.All(returning => returning.Syntax is not ReturnStatementSyntax || IsUnlessNull(returning, parameter))
        && body.References(parameter).Any(reference => DisposalOf(reference) is { } disposal
            && body.FunctionAround(disposal) is null && IsCertain(disposal, body) && IsUnlessNull(disposal, parameter));

    /// <summary>Returns whether a method may return before an operation although <paramref name="subject"/> is not null.</summary>
    public static bool MayReturnBefore(IOperation operation, ISymbol subject, MethodBody body) => body.Returns.Any(returning =>
        returning.Syntax is ReturnStatementSyntax && returning.Syntax.Span.End <= operation.Syntax.SpanStart
        && !IsUnlessNull(returning, subject));

    /// <summary>
    /// Returns the innermost branch, decided by a flag, an argument or a field, that may skip an operation; null if there is none. A test
    /// of <paramref name="subject"/> for null does not count, nor does a loop, although it may have no round.
    /// </summary>
    public static IOperation? BranchAround(IOperation operation, ISymbol subject, MethodBody body)
    {
        IOperation child = operation;
        for (IOperation? parent = operation.Parent; parent is not null && child != body.Root; child = parent, parent = parent.Parent)
        {
            IOperation? choice = parent switch
            {
                IConditionalOperation { Condition: var condition } => condition,
                ISwitchOperation { Value: var value } => value,
                ISwitchExpressionOperation { Value: var value } => value,
                ICoalesceOperation { Value: var value } => value,
                IBinaryOperation { OperatorKind: BinaryOperatorKind.ConditionalAnd or BinaryOperatorKind.ConditionalOr } both =>
                    both.LeftOperand,
                IConditionalAccessOperation { Operation: IMemberReferenceOperation member } => member,
                ICatchClauseOperation => parent,
                _ => null,
            };
            if (choice is not null && choice != child && !IsOnly(choice, subject))
            {
                return child;
            }
        }

        return null;
    }

    // A flag among the arguments may decide what happens to the buffer.
    private static bool IsUnlessNull(IOperation operation, ISymbol subject)
    {
        for (IOperation? parent = operation.Parent; parent is not null; parent = parent.Parent)
        {
            if (parent is IConditionalOperation { Condition: var condition } && !IsOnly(condition, subject))
            {
                return false;
            }
        }

        return true;
    }

    private static bool IsOnly(IOperation condition, ISymbol subject) => condition.DescendantsAndSelf().All(part => part switch
    {
        IMemberReferenceOperation or IInvocationOperation or ILocalReferenceOperation => false,
        IParameterReferenceOperation other => SymbolEqualityComparer.Default.Equals(other.Parameter, subject),
        _ => true,
    });

    private static bool IsDispose(IOperation operation) =>
        operation is IInvocationOperation { TargetMethod: { Name: "Dispose", Parameters.Length: 0 } };

    private static IOperation? DisposalOf(IOperation reference) => reference.Parent switch
    {
        IConversionOperation conversion => DisposalOf(conversion),
        IInvocationOperation call when call.Instance == reference && IsDispose(call) => call,
        IConditionalAccessOperation access when access.Operation == reference && IsDispose(access.WhenNotNull) => access,
        _ => null,
    };

    /// <summary>Returns whether a <c>return</c> leaves nothing undone: the value is null, or it was done before.</summary>
    public static bool IsGuarded(IOperation returning, MethodBody body)
    {
        IOperation? parent = returning.Parent;
        while (parent is IBlockOperation)
        {
            parent = parent.Parent;
        }

        return parent is IConditionalOperation choice && IsGuard(choice.Condition, body);
    }

    // The condition tests for null what is disposed or set in the branch, or tests a flag that says that this was done.
    private static bool IsGuard(IOperation condition, MethodBody body) => condition.DescendantsAndSelf().All(part => part switch
    {
        IInvocationOperation { TargetMethod: { Name: "Exchange" or "CompareExchange", ContainingType.Name: "Interlocked" } } => true,
        IInvocationOperation or IIncrementOrDecrementOperation => false,
        IMemberReferenceOperation { Type: { IsReferenceType: true }, Member: var member } => IsDone(member, body),
        IMemberReferenceOperation { Member: var flag } => (part.Parent is IArgumentOperation || body.Root.Descendants().Any(
            other => other is ISimpleAssignmentOperation { Target: IMemberReferenceOperation target, Value.ConstantValue.HasValue: true }
                && SymbolEqualityComparer.Default.Equals(target.Member, flag)))
            && MemberWrites.AreIn(flag, body.Root.Syntax),
        IParameterReferenceOperation { Parameter: var parameter } =>
            parameter.ContainingSymbol is IMethodSymbol { MethodKind: not MethodKind.Constructor },
        ILocalReferenceOperation { Type: { IsReferenceType: true }, Local: var local } => IsDone(local, body),
        ILocalReferenceOperation => false,
        _ => true,
    });

    // Another object, such as a parent or a pool, may decide what happens to the buffer.
    private static bool IsDone(ISymbol variable, MethodBody body) => body.Root.Descendants().Any(other =>
        SymbolEqualityComparer.Default.Equals((other as IMemberReferenceOperation)?.Member ?? other.ReferencedVariable(), variable)
        && other.Parent is IInvocationOperation { TargetMethod.Name: "Dispose" } or IConditionalAccessOperation
            or IArgumentOperation { Parameter.RefKind: RefKind.Ref } or ISimpleAssignmentOperation or ITupleOperation
        && (other.Parent as ISimpleAssignmentOperation)?.Value != other);
}
