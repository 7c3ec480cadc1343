using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;

namespace Allocator.Analyzers.Checks;

/// <summary>Finds the owners that a statement still needs after one of its operations.</summary>
internal static class PendingOwners
{
    /// <summary>
    /// Returns the owners in variables that are read after <paramref name="use"/>, or were read before it for a later operation.
    /// </summary>
    public static ulong At(IOperation use, IOperation statement, FlowState before, VariableTable variables)
    {
        HashSet<IOperation> unfinished = new();
        for (IOperation? operation = use; operation is not null && unfinished.Add(operation) && operation != statement;)
        {
            operation = operation.Parent;
        }

        ulong kept = 0;
        bool isAfter = false;
        Visit(statement);
        return kept;

        // Children come before parents and from left to right, which is the order of evaluation.
        void Visit(IOperation operation)
        {
            foreach (IOperation child in operation.ChildOperations)
            {
                Visit(child);
            }

            if (operation == use)
            {
                isAfter = true;
            }
            else if ((isAfter || unfinished.Contains(Consumer(operation)))
                && !IsTarget(operation)
                && variables.TryGet(operation, out int variable))
            {
                kept |= before[variable].Keep;
            }
        }
    }

    private static IOperation Consumer(IOperation operation)
    {
        IOperation consumer = operation.Parent!;
        while (consumer is IConversionOperation or IArgumentOperation && consumer.Parent is not null)
        {
            consumer = consumer.Parent;
        }

        return consumer;
    }

    private static bool IsTarget(IOperation operation) =>
        operation.Parent is ISimpleAssignmentOperation assignment && assignment.Target == operation;
}
