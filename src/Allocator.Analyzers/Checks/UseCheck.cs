using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC001 and ALLOC002: memory is touched when nothing keeps its owner, or when the owner is disposed.</summary>
internal sealed class UseCheck
{
    private readonly Body _body;
    private readonly Evaluator _evaluator;
    private Liveness? _liveness;
    private readonly Reporter _reporter;

    public UseCheck(Body body, Evaluator evaluator, Reporter reporter)
    {
        _body = body;
        _evaluator = evaluator;
        _reporter = reporter;
    }

    /// <summary>Checks one use in a statement.</summary>
    /// <param name="use">The use.</param>
    /// <param name="statement">The statement.</param>
    /// <param name="before">The state before the statement.</param>
    /// <param name="after">The state after it.</param>
    /// <param name="block">The block of the statement.</param>
    /// <param name="index">The number of the statement in its block.</param>
    public void Check(Use use, IOperation statement, FlowState before, FlowState after, BasicBlock block, int index)
    {
        if (use.AfterDispose != 0)
        {
            CheckDisposed(use);
            return;
        }

        ulong kept = after.Escaped | after.Reachable;
        ulong lost = use.Raw & ~use.PossiblyDisposed & ~kept;
        if (lost != 0)
        {
            _liveness ??= new Liveness(_body.Graph, _body.Edges, _body.Variables);
            lost &= ~KeptAfter(after, _liveness.After(block, index));
        }

        if (lost != 0)
        {
            lost &= ~PendingOwners.At(use.Operation, statement, before, _body.Variables);
            _reporter.Report(LifetimeRules.Finalizable, use.Operation, lost);
        }
    }

    /// <summary>Reports what is used after its disposal.</summary>
    public void CheckDisposed(Use use) => _reporter.Report(
        LifetimeRules.UsedAfterDispose, use.Operation, use.AfterDispose, site => _evaluator.LineOfDisposal(site, use.Operation.Syntax));

    private static ulong KeptAfter(FlowState state, VariableSet live)
    {
        ulong kept = 0;
        for (int i = 0; i < state.Count; i++)
        {
            if (live.Contains(i))
            {
                kept |= state[i].Keep;
            }
        }

        return kept;
    }
}
