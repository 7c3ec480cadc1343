using System.Runtime.CompilerServices;

namespace Allocator.Analyzers.Graph;

/// <summary>Which variables a statement reads, and which it overwrites without reading.</summary>
internal sealed class StatementAccess
{
    private readonly List<int> _reads = new();
    private readonly List<int> _writes = new();

    private StatementAccess()
    {
    }

    public static StatementAccess Of(IOperation statement, VariableTable variables)
    {
        StatementAccess access = new();
        access.Collect(statement, variables);
        return access;
    }

    /// <summary>Changes the set of variables that are read after the statement to those that are read from its start on.</summary>
    public void WalkBack(VariableSet live)
    {
        // What a statement both reads and writes is read first.
        foreach (int variable in _writes)
        {
            live.Remove(variable);
        }

        foreach (int variable in _reads)
        {
            live.Add(variable);
        }
    }

    private void Collect(IOperation operation, VariableTable variables)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        switch (operation)
        {
            case IFlowCaptureOperation capture:
                Collect(capture.Value, variables);
                _writes.Add(variables.Of(capture.Id));
                return;
            case ISimpleAssignmentOperation { IsRef: false, Target: var target } assignment
                when target is ILocalReferenceOperation or IParameterReferenceOperation or IFlowCaptureReferenceOperation
                && !target.IsRefLocal() && variables.TryGet(target, out int written):
                // A capture on the left represents a variable that an earlier statement names.
                if (target is not IFlowCaptureReferenceOperation)
                {
                    _writes.Add(written);
                }

                Collect(assignment.Value, variables);
                return;
            case ILocalReferenceOperation or IParameterReferenceOperation or IFlowCaptureReferenceOperation
                when variables.TryGet(operation, out int read):
                _reads.Add(read);
                return;
        }

        foreach (IOperation child in operation.ChildOperations)
        {
            Collect(child, variables);
        }
    }
}
