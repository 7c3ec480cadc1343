namespace Allocator.Analyzers.Graph;

/// <summary>A branch on whether two tasks are the same one: how a method asks which task <c>Task.WhenAny</c> saw end first.</summary>
internal readonly struct TaskTest
{
    private readonly IBinaryOperation _comparison;
    private readonly bool _isWhenTrue;

    private TaskTest(IBinaryOperation comparison, bool isWhenTrue)
    {
        _comparison = comparison;
        _isWhenTrue = isWhenTrue;
    }

    /// <summary>Returns the comparison that a block ends with, or null.</summary>
    public static TaskTest? Of(BasicBlock block) => block.ConditionKind != ControlFlowConditionKind.None
        && block.BranchValue?.Strip() is IBinaryOperation
        {
            OperatorKind: BinaryOperatorKind.Equals or BinaryOperatorKind.NotEquals, OperatorMethod: null,
        } comparison
        && IsTask(comparison.LeftOperand) && IsTask(comparison.RightOperand)
            ? new TaskTest(comparison, block.ConditionKind == ControlFlowConditionKind.WhenTrue)
            : null;

    /// <summary>Returns the buffers whose tasks have ended on a branch.</summary>
    /// <param name="isConditional">Which branch.</param>
    /// <param name="held">Returns the buffers that a task uses.</param>
    public ulong Ended(bool isConditional, Func<IOperation, ulong> held)
    {
        bool isSame = _isWhenTrue == isConditional == (_comparison.OperatorKind == BinaryOperatorKind.Equals);
        ulong left = held(_comparison.LeftOperand.Strip());
        ulong right = held(_comparison.RightOperand.Strip());

        // One that uses no buffer is a timer: if that is not the one that ended, the other one is.
        return left != 0 && right != 0 ? (isSame ? left & right : 0)
            : isSame ? 0
            : left | right;
    }

    private static bool IsTask(IOperation operand) =>
        operand.Strip().Type is { Name: "Task", ContainingNamespace: { Name: "Tasks", ContainingNamespace.Name: "Threading" } };
}
