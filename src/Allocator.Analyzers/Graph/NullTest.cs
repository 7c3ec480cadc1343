namespace Allocator.Analyzers.Graph;

/// <summary>
/// A branch on whether a value is null. Without it, neither <c>using</c> nor <c>?.Dispose()</c> would count as certain to dispose.
/// </summary>
internal readonly struct NullTest
{
    private NullTest(IOperation value, bool isNullWhenTrue)
    {
        Value = value.Strip() is ISimpleAssignmentOperation { Target: var target } ? target : value;
        IsNullWhenTrue = isNullWhenTrue;
    }

    /// <summary>Gets what is compared with null; of an assignment the variable that gets it.</summary>
    public IOperation Value { get; }

    private bool IsNullWhenTrue { get; }

    /// <summary>Returns the test that leads to a branch on which the value is null, or null.</summary>
    public static NullTest? OnNullBranch(BasicBlock block, bool isConditionalBranch)
    {
        if (block.BranchValue is null
            || block.ConditionKind == ControlFlowConditionKind.None
            || Of(block.BranchValue.Strip()) is not { } test)
        {
            return null;
        }

        bool isTrue = (block.ConditionKind == ControlFlowConditionKind.WhenTrue) == isConditionalBranch;
        return isTrue == test.IsNullWhenTrue ? test : null;
    }

    private static NullTest? Of(IOperation condition) => condition switch
    {
        IIsNullOperation test => new NullTest(test.Operand, true),
        IIsPatternOperation test => OfPattern(test.Value, test.Pattern),
        IBinaryOperation { OperatorKind: BinaryOperatorKind.Equals } test => OfComparison(test, true),
        IBinaryOperation { OperatorKind: BinaryOperatorKind.NotEquals } test => OfComparison(test, false),
        _ => null,
    };

    private static NullTest? OfPattern(IOperation value, IPatternOperation pattern) => pattern switch
    {
        IConstantPatternOperation { Value: var constant } when constant.IsNull() => new NullTest(value, true),
        INegatedPatternOperation { Pattern: IConstantPatternOperation { Value: var constant } } when constant.IsNull() =>
            new NullTest(value, false),
        IRecursivePatternOperation { PropertySubpatterns.IsEmpty: true, DeconstructionSubpatterns.IsEmpty: true } any
            when SymbolEqualityComparer.Default.Equals(any.MatchedType, any.InputType) => new NullTest(value, false),
        INegatedPatternOperation { Pattern: IRecursivePatternOperation any } when OfPattern(value, any) is not null =>
            new NullTest(value, true),
        _ => null,
    };

    private static NullTest? OfComparison(IBinaryOperation test, bool isNullWhenTrue)
    {
        if (test.OperatorMethod is not null)
        {
            return null;
        }

        if (test.RightOperand.IsNull())
        {
            return new NullTest(test.LeftOperand, isNullWhenTrue);
        }

        return test.LeftOperand.IsNull() ? new NullTest(test.RightOperand, isNullWhenTrue) : null;
    }
}
