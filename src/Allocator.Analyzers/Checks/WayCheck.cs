using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;

namespace Allocator.Analyzers.Checks;

/// <summary>
/// ALLOC002 if only some paths contain a disposal: uses that certainly follow it on such a path, up to the next branch, and uses in the
/// next round of a loop that disposes in each round.
/// </summary>
internal sealed class WayCheck
{
    private readonly Body _body;
    private readonly Evaluator _evaluator;
    private readonly FlowState?[] _entries;
    private readonly Lazy<FlowState?[]> _firstRounds;
    private readonly Dictionary<BasicBlock, FlowState> _rounds = new();

    public WayCheck(Body body, Evaluator evaluator, FlowState?[] entries, CancellationToken cancellation)
    {
        _body = body;
        _evaluator = evaluator;
        _entries = entries;
        bool hasLoops = body.Graph.Blocks.Any(
            block => IsBack(block, block.FallThroughSuccessor) || IsBack(block, block.ConditionalSuccessor));
        _firstRounds = new Lazy<FlowState?[]>(
            () => hasLoops ? Fixpoint.OfBody(body, evaluator, cancellation, isOneRound: true) : new FlowState?[entries.Length]);
    }

    /// <summary>Looks at what follows a block.</summary>
    public void Follow(BasicBlock block, FlowState end, Action<Use> check)
    {
        NoteRound(block, block.FallThroughSuccessor, end, isConditional: false);
        NoteRound(block, block.ConditionalSuccessor, end, isConditional: true);
        if (block.ConditionalSuccessor is not null || !Edges.IsDirect(block.FallThroughSuccessor)
            || block.FallThroughSuccessor!.Destination is not { } next || next.Ordinal <= block.Ordinal)
        {
            return;
        }

        if (DisposedOnlyHere(end, next) is var disposed and not 0 && !MayEnd(block))
        {
            Walk(next, end.Clone(), disposed, check);
        }
        else if ((end.Disposed & end.Undisposed & ~end.OwnerEscaped & _body.Sites.Buffers) != 0 && ConditionOf(block) is { } condition)
        {
            FollowFirst(block, next, condition, check);
        }
    }

    // A buffer that is too small is replaced, but the span of the old one is still used. In later rounds another buffer may be disposed.
    private void FollowFirst(BasicBlock block, BasicBlock next, ExpressionSyntax condition, Action<Use> check)
    {
        if (_firstRounds.Value[block.Ordinal] is not { } entry || _firstRounds.Value[next.Ordinal] is not { } other)
        {
            return;
        }

        FlowState state = Evaluate(block, entry.Clone(), null);
        ulong disposed = state.SurelyDisposed & ~other.SurelyDisposed & ~state.OwnerEscaped & ~state.Pinned & _body.Sites.Buffers;
        if (disposed != 0 && !MayEnd(block))
        {
            Walk(next, state, disposed, use => CheckIfTested(use, condition, check));
        }
    }

    private static void CheckIfTested(Use use, ExpressionSyntax condition, Action<Use> check)
    {
        if (use.Operation.DescendantsAndSelf().Any(part => part.ReferencedVariable() is { } used && condition.DescendantNodesAndSelf().Any(
            node => node is IdentifierNameSyntax name && name.Identifier.ValueText == used.Name)))
        {
            check(use);
        }
    }

    private static ExpressionSyntax? ConditionOf(BasicBlock block) =>
        block.Operations.LastOrDefault()?.Syntax.FirstAncestorOrSelf<IfStatementSyntax>()?.Condition;

    /// <summary>Looks at the second rounds of the loops whose ends were noted.</summary>
    public void FollowRounds(Action<Use> check)
    {
        foreach (KeyValuePair<BasicBlock, FlowState> round in _rounds)
        {
            BasicBlock head = round.Key;
            if (DisposedOnlyHere(round.Value, head) is var disposed and not 0 && BodyOf(head) is { } first && !MayEnd(first))
            {
                Walk(first, Evaluate(head, round.Value.Clone(), null), disposed, check);
            }
        }
    }

    private ulong DisposedOnlyHere(FlowState end, BasicBlock next) => _entries[next.Ordinal] is not { } entry ? 0
        : end.SurelyDisposed & ~entry.SurelyDisposed & ~end.OwnerEscaped & ~end.Pinned & _body.Sites.Buffers;

    private static bool IsBack(BasicBlock block, ControlFlowBranch? branch) => branch?.Destination?.Ordinal <= block.Ordinal;

    // Merges all ends of one round.
    private void NoteRound(BasicBlock block, ControlFlowBranch? branch, FlowState end, bool isConditional)
    {
        if (!Edges.IsDirect(branch) || branch!.Destination is not { } head || head.Ordinal > block.Ordinal)
        {
            return;
        }

        FlowState state = Fixpoint.OnBranch(_body, block, end, isConditional);
        if (_rounds.TryGetValue(head, out FlowState? others))
        {
            others.Join(state);
        }
        else
        {
            _rounds.Add(head, state.Clone());
        }
    }

    // Of a `for` or `foreach` whose condition only asks whether there is another item.
    private static BasicBlock? BodyOf(BasicBlock head)
    {
        bool isPlain = head.BranchValue is IInvocationOperation { TargetMethod.Name: "MoveNext" }
            || (head.BranchValue is IBinaryOperation { Syntax.Parent: ForStatementSyntax } test
                && test.Descendants().All(part => part.Type?.SpecialType != SpecialType.System_Boolean));
        ControlFlowBranch? inside = head.ConditionKind == ControlFlowConditionKind.WhenFalse
            ? head.FallThroughSuccessor : head.ConditionalSuccessor;
        return isPlain && Edges.IsDirect(inside) ? inside!.Destination : null;
    }

    private void Walk(BasicBlock block, FlowState state, ulong disposed, Action<Use> check)
    {
        for (BasicBlock? current = block; current is not null;)
        {
            List<Use> uses = new();
            state = Evaluate(current, state, uses);
            foreach (Use use in uses)
            {
                if ((use.AfterDispose & disposed) != 0)
                {
                    check(use);
                }
            }

            ControlFlowBranch? branch = current.ConditionalSuccessor is null ? current.FallThroughSuccessor : null;
            current = Edges.IsDirect(branch) && branch!.Destination!.Ordinal > current.Ordinal ? branch.Destination : null;
        }
    }

    private FlowState Evaluate(BasicBlock block, FlowState state, List<Use>? uses)
    {
        _evaluator.State = state;
        _evaluator.Uses = uses;
        foreach (IOperation statement in block.Statements())
        {
            _evaluator.Evaluate(statement);
        }

        _evaluator.Uses = null;
        return _evaluator.State;
    }

    // A call on that path that never returns, such as that of a method that throws.
    private bool MayEnd(BasicBlock block)
    {
        SyntaxNode? way = block.Statements().LastOrDefault()?.Syntax;
        do
        {
            way = way?.Ancestors().FirstOrDefault(node => node is SwitchSectionSyntax or MemberDeclarationSyntax
                or AnonymousFunctionExpressionSyntax || node.Parent is IfStatementSyntax or ElseClauseSyntax or CatchClauseSyntax
                or TryStatementSyntax or WhileStatementSyntax or DoStatementSyntax or ForStatementSyntax or CommonForEachStatementSyntax);
        }
        while (way is not (null or MemberDeclarationSyntax) && !way.DescendantTokens().Any(
            token => token.ValueText is nameof(IDisposable.Dispose)));

        return way is null || _body.Graph.OriginalOperation.Descendants().Any(operation =>
            operation is IInvocationOperation { TargetMethod: var called } && way.Span.Contains(operation.Syntax.Span)
            && MayThrow(called, IsDropped(operation)));
    }

    private static bool IsDropped(IOperation call) =>
        call.Parent is IExpressionStatementOperation or ISimpleAssignmentOperation { Target: IDiscardOperation };

    private bool MayThrow(IMethodSymbol method, bool isDropped) => method.Name is "Exit" or "FailFast" or "Fail" or "Assert"
        || method.Name.StartsWith("Throw", StringComparison.Ordinal)
        || (isDropped && !_body.Known.Members.IsKnown(method)
            && (_body.Known.Bodies.Of(method) is not { } body || body.Root.Descendants().Any(part => part is IThrowOperation)));
}
