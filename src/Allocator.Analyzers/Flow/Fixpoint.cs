using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;

namespace Allocator.Analyzers.Flow;

/// <summary>Carries states along all edges from one block on, until nothing changes.</summary>
internal sealed class Fixpoint
{
    private readonly Body _body;
    private readonly Evaluator _evaluator;
    private readonly FlowState?[] _entries;
    private readonly SortedSet<int> _waiting = new();
    private readonly ControlFlowRegion? _region;
    private readonly bool _isOneRound;

    private Fixpoint(Body body, Evaluator evaluator, ControlFlowRegion? region = null, bool isOneRound = false)
    {
        _isOneRound = isOneRound;
        _body = body;
        _evaluator = evaluator;
        _region = region;
        _entries = new FlowState?[body.Graph.Blocks.Length];
    }

    /// <summary>Gives the state at the start of each block that is reached, if wanted in the first round of each loop alone.</summary>
    public static FlowState?[] OfBody(Body body, Evaluator evaluator, CancellationToken cancellation, bool isOneRound = false)
    {
        Fixpoint fixpoint = new(body, evaluator, isOneRound: isOneRound);
        fixpoint.Run(0, new FlowState(body.Variables.Count), cancellation);
        return fixpoint._entries;
    }

    /// <summary>Gives the state at the start of each block that is reached from one that is entered in <paramref name="state"/>.</summary>
    public static FlowState?[] From(int start, FlowState state, Body body, Evaluator evaluator, CancellationToken cancellation)
    {
        Fixpoint fixpoint = new(body, evaluator);
        fixpoint.Run(start, state, cancellation);
        return fixpoint._entries;
    }

    /// <summary>Returns the state after one <c>finally</c> that is entered in <paramref name="state"/>; null if it never ends.</summary>
    public static FlowState? Through(
        ControlFlowRegion region, FlowState state, Body body, Evaluator evaluator, CancellationToken cancellation)
    {
        Fixpoint fixpoint = new(body, evaluator, region);
        fixpoint.Run(region.FirstBlockOrdinal, state, cancellation);
        FlowState? result = null;
        for (int i = region.FirstBlockOrdinal; i <= region.LastBlockOrdinal; i++)
        {
            BasicBlock block = body.Graph.Blocks[i];
            if (fixpoint._entries[i] is { } entry && Edges.Leaves(block, region))
            {
                FlowState end = fixpoint.Walk(block, entry);
                if (result is null)
                {
                    result = end.Clone();
                }
                else
                {
                    result.Join(end);
                }
            }
        }

        return result;
    }

    private void Run(int start, FlowState state, CancellationToken cancellation)
    {
        Reach(start, state);
        while (_waiting.Count > 0)
        {
            cancellation.ThrowIfCancellationRequested();
            int ordinal = _waiting.Min;
            _waiting.Remove(ordinal);
            BasicBlock block = _body.Graph.Blocks[ordinal];
            FlowState end = Walk(block, _entries[ordinal]!);
            Follow(block, block.FallThroughSuccessor, end, isConditional: false);
            Follow(block, block.ConditionalSuccessor, end, isConditional: true);
            if (_region is null || !Edges.Leaves(block, _region))
            {
                ReachAll(_body.Edges.ThroughFinally(block), end);
            }
        }
    }

    private FlowState Walk(BasicBlock block, FlowState entry)
    {
        IReadOnlyList<int> handlers = _body.Edges.HandlersOf(block);
        IOperation? last = block.BranchValue is null or ILocalReferenceOperation ? block.Operations.LastOrDefault() : block.BranchValue;
        bool mayFail = last is not null;
        _evaluator.State = entry.Clone();
        ReachAll(mayFail ? handlers : [], _evaluator.State);
        foreach (IOperation statement in block.Statements())
        {
            _evaluator.Evaluate(statement);

            // A failed allocation has allocated nothing. If it is the last call that may fail, no owner reaches the handlers.
            mayFail &= statement != last || !IsAllocation(statement);
            ReachAll(mayFail ? handlers : [], _evaluator.State);
        }

        return _evaluator.State;
    }

    private bool IsAllocation(IOperation statement) =>
        statement is IExpressionStatementOperation { Operation: ISimpleAssignmentOperation assignment }
        && assignment.Target is ILocalReferenceOperation && _body.Sites.BitOf(assignment.Value.Strip()) != 0;

    private void Follow(BasicBlock block, ControlFlowBranch? branch, FlowState end, bool isConditional)
    {
        if (Edges.IsDirect(branch) && !(_isOneRound && branch!.Destination!.Ordinal <= block.Ordinal))
        {
            Reach(branch!.Destination!.Ordinal, OnBranch(_body, block, end, isConditional));
        }
    }

    /// <summary>
    /// Returns the state on one of the branches of a block. A test for null may show there which owners do not exist, and a comparison of
    /// tasks which one has ended.
    /// </summary>
    public static FlowState OnBranch(Body body, BasicBlock block, FlowState end, bool isConditional)
    {
        if (end.Running != 0 && TaskTest.Of(block) is { } comparison)
        {
            ulong ended = comparison.Ended(isConditional, task => HeldBy(task, body, end));
            if (ended == 0)
            {
                return end;
            }

            FlowState settled = end.Clone();
            settled.Settle(ended);
            return settled;
        }

        if (NullTest.OnNullBranch(block, isConditional) is not { } test)
        {
            return end;
        }

        FlowState state = end.Clone();
        if (!body.Variables.TryGet(test.Value, out int variable))
        {
            // A call that returned null created no owner.
            state.Forget(body.Sites.BitOf(test.Value.Strip()) & ~state.OwnerEscaped);
            return state;
        }

        // A variable that would hold the owner if it existed is null here, so the owner was never allocated on this path.
        Holding value = state[variable];
        state.Forget(value.Own & ~value.Uncertain & ~state.OwnerEscaped);
        if (body.Known.Types.IsTask(test.Value.Strip().Type))
        {
            // No task was started on this path.
            state.Settle(value.Held);
        }

        state[variable] = default;
        return state;
    }

    // The first of several tasks may be any of those that run.
    private static ulong HeldBy(IOperation task, Body body, FlowState state) => state.Running
        & (body.Variables.TryGet(task, out int variable) ? state[variable].Held : ulong.MaxValue);

    private void ReachAll(IReadOnlyList<int> blocks, FlowState state)
    {
        foreach (int block in blocks)
        {
            Reach(block, state);
        }
    }

    private void Reach(int block, FlowState state)
    {
        if (_region is { } region && (block < region.FirstBlockOrdinal || block > region.LastBlockOrdinal))
        {
            return;
        }

        if (_entries[block] is { } entry)
        {
            if (entry.Join(state))
            {
                _waiting.Add(block);
            }
        }
        else
        {
            _entries[block] = state.Clone();
            _waiting.Add(block);
        }
    }
}
