namespace Allocator.Analyzers.Graph;

/// <summary>Small questions about operations that several steps ask.</summary>
internal static class Operations
{
    // The oldest supported compiler has neither a name nor a kind for it.
    private const int CollectionExpression = 127;

    /// <summary>Returns the statements of a block, with the value that it branches on or returns last.</summary>
    public static IEnumerable<IOperation> Statements(this BasicBlock block)
    {
        foreach (IOperation operation in block.Operations)
        {
            yield return operation;
        }

        if (block.BranchValue is not null)
        {
            yield return block.BranchValue;
        }
    }

    /// <summary>Looks through conversions, and through the declaration of an <c>out</c> variable.</summary>
    public static IOperation Strip(this IOperation operation)
    {
        while (true)
        {
            switch (operation)
            {
                case IConversionOperation conversion:
                    operation = conversion.Operand;
                    break;
                case IDeclarationExpressionOperation declaration:
                    operation = declaration.Expression;
                    break;
                default:
                    return operation;
            }
        }
    }

    public static ISymbol? ReferencedVariable(this IOperation operation) => operation switch
    {
        ILocalReferenceOperation local => local.Local,
        IParameterReferenceOperation parameter => parameter.Parameter,
        _ => null,
    };

    public static bool IsRefLocal(this IOperation operation) =>
        operation is ILocalReferenceOperation { Local.RefKind: not RefKind.None };

    public static bool IsByReference(this IArgumentOperation argument) =>
        argument.Parameter?.RefKind is not (null or RefKind.None);

    /// <summary>Returns whether a lambda becomes a tree of expressions instead of code.</summary>
    public static bool IsExpressionTree(this IFlowAnonymousFunctionOperation lambda) =>
        lambda.Parent is IConversionOperation { Type: { Name: "Expression" or "LambdaExpression" } type }
        && type.ContainingNamespace.Name == "Expressions";

    /// <summary>Returns whether the operation is a collection expression, <c>[a, b]</c>.</summary>
    public static bool IsCollectionExpression(this IOperation operation) =>
        (int)operation.Kind == CollectionExpression
        || (operation.Kind == OperationKind.None && operation.Syntax is CollectionExpressionSyntax);

    /// <summary>Returns the operator that an expression calls, not a conversion; null if the language has it itself.</summary>
    public static IMethodSymbol? CalledOperator(this IOperation operation) => operation switch
    {
        IBinaryOperation binary => binary.OperatorMethod,
        IUnaryOperation unary => unary.OperatorMethod,
        _ => null,
    };

    public static bool IsNull(this IOperation operation) =>
        operation.Strip().ConstantValue is { HasValue: true, Value: null };

    /// <summary>Returns the call whose task is awaited, past <c>ConfigureAwait</c>.</summary>
    public static IInvocationOperation? AwaitedCall(this IAwaitOperation awaiting)
    {
        IInvocationOperation? call = awaiting.Operation.Strip() as IInvocationOperation;
        return call is { TargetMethod.Name: "ConfigureAwait", Instance: { } task } ? task.Strip() as IInvocationOperation : call;
    }
}
