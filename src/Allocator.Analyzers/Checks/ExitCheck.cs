using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>
/// ALLOC003, ALLOC005 and ALLOC006: a body returns a buffer whose owner stays behind or is disposed on the way out; a task still uses
/// the buffer then; an early return leaves an owner behind.
/// </summary>
internal sealed class ExitCheck
{
    private readonly Body _body;
    private readonly Evaluator _evaluator;
    private readonly Reporter _reporter;
    private readonly CancellationToken _cancellation;
    private readonly Synchronization _synchronization;
    private readonly List<(DiagnosticDescriptor Rule, Location Place, ulong Sites, string? Word)> _lost = new();

    public ExitCheck(Body body, Evaluator evaluator, Reporter reporter, CancellationToken cancellation)
    {
        _body = body;
        _evaluator = evaluator;
        _reporter = reporter;
        _cancellation = cancellation;
        _synchronization = new Synchronization(body);
    }

    /// <summary>Reports what the evaluation of a statement found.</summary>
    public void Report(Finding finding)
    {
        if (finding.Rule == LifetimeRules.Unawaited)
        {
            ReportRunning(finding.Sites & _body.Sites.Buffers);
        }
        else if (finding.Rule == LifetimeRules.LostByLoop)
        {
            _lost.Add((finding.Rule, finding.Operation.Syntax.GetLocation(), finding.Sites & _body.Sites.Buffers, null));
        }
        else
        {
            _reporter.Report(finding.Rule, finding.Operation, finding.Sites);
        }
    }

    /// <summary>Reports owners that are lost on some paths, but disposed or handed on at the end of others.</summary>
    public void ReportLost()
    {
        foreach ((DiagnosticDescriptor rule, Location place, ulong sites, string? word) in _lost)
        {
            _reporter.Report(
                rule, place, sites & (_evaluator.EverDisposed | _evaluator.EverHanded), rule.DefaultSeverity, _ => word!);
        }
    }

    /// <summary>Checks one <c>return</c>, and lets its value escape.</summary>
    public void CheckReturn(IOperation returned, Holding value, ControlFlowBranch branch, FlowState before, FlowState state)
    {
        ulong silent = state.OwnerEscaped | state.Pinned | ~_body.Sites.Buffers;
        FlowState? behind = Behind(branch.FinallyRegions, state, out ulong perhaps);
        ulong left = DisposedOnTheWay(state, behind);
        ulong disposed = left & ~silent;
        ulong stale = value.Memory & ~value.Own & state.SurelyDisposed & ~silent;
        bool isTask = _body.Symbol is IMethodSymbol { IsAsync: false } && _body.Known.Types.IsTask(returned.Type);
        if (isTask)
        {
            ReportAll(value.Held & disposed & state.Running & (behind?.Running ?? 0));
        }

        _reporter.Report(LifetimeRules.ReturnedFromUsing, returned, value.Own & disposed & DeclaredWithUsing());

        // Buffers that the same statement put into the returned object have not escaped otherwise.
        ulong inside = value.Held & left & ~(before.OwnerEscaped | state.Pinned | ~_body.Sites.Buffers) & ~state.Running;
        _reporter.Report(
            LifetimeRules.OutlivesOwner, returned,
            (value.Raw & ~value.Keep & ~state.Escaped & ~state.Reachable & ~silent) | (value.Direct & disposed) | inside | stale);
        _evaluator.State = state;
        _evaluator.Escape(value);
        if (returned.Syntax.Parent is { } parent && ExplicitReturn.Of(parent) is { } statement)
        {
            ReportLeft(statement.GetLocation(), perhaps, state);
        }
    }

    /// <summary>Checks the owners that are disposed on the way out of a block, or left by a <c>return</c> without a value.</summary>
    public void CheckLeft(BasicBlock block, FlowState end)
    {
        foreach ((ControlFlowBranch branch, FlowState state) in Branches(block, end))
        {
            FlowState? behind = Behind(branch.FinallyRegions, state, out ulong perhaps);
            CheckRunning(block, branch, state, behind);
            if (branch is { Semantics: ControlFlowBranchSemantics.Regular, Destination.Kind: BasicBlockKind.Exit }
                && ExplicitReturn.Behind(block) is { } statement)
            {
                ReportLeft(statement.GetLocation(), perhaps, state);
            }
            else if (Lost(perhaps, state) != 0 && Jump.Behind(block, branch) is { } jump && Passed(block, branch) is { } passed)
            {
                _ = Behind(passed, state, out perhaps);
                ReportLeft(jump.Place, perhaps, state, jump);
            }
        }
    }

    /// <summary>
    /// Checks an exception that leaves the block while a task still runs: whether something on its way disposes the task's buffer.
    /// </summary>
    public void CheckInterrupted(BasicBlock block, Interruption interruption)
    {
        if ((interruption.State.SurelyRunning & ~interruption.State.OwnerEscaped & _body.Sites.Buffers) == 0)
        {
            return;
        }

        foreach (string[] caught in interruption.Thrown)
        {
            FlowState? state = interruption.State.Clone();
            foreach (ControlFlowRegion handler in Edges.HandlersOutwards(block))
            {
                if (handler.Kind is ControlFlowRegionKind.Finally)
                {
                    FlowState before = state;
                    state = Fixpoint.Through(handler, before, _body, _evaluator, _cancellation);
                    ReportRunning(StillRunning(before, state));
                }
                else if (caught.Contains(handler.ExceptionType?.Name))
                {
                    CheckHandler(handler, state);
                    state = null;
                }

                if (state is null)
                {
                    break;
                }
            }
        }
    }

    private void CheckHandler(ControlFlowRegion handler, FlowState state)
    {
        FlowState?[] entries = Fixpoint.From(handler.FirstBlockOrdinal, state, _body, _evaluator, _cancellation);
        foreach (BasicBlock block in _body.Graph.Blocks)
        {
            if (entries[block.Ordinal] is not { } entry)
            {
                continue;
            }

            _evaluator.State = entry.Clone();
            _evaluator.Findings = new List<Finding>();
            foreach (IOperation statement in block.Statements())
            {
                _evaluator.Evaluate(statement);
            }

            foreach (Finding finding in _evaluator.Findings.Where(finding => finding.Rule == LifetimeRules.Unawaited))
            {
                Report(finding);
            }

            _evaluator.Findings = null;
            foreach ((ControlFlowBranch branch, FlowState end) in Branches(block, _evaluator.State).ToList())
            {
                CheckRunning(block, branch, end, Behind(branch.FinallyRegions, end, out _));
            }
        }
    }

    private IEnumerable<(ControlFlowBranch Branch, FlowState State)> Branches(BasicBlock block, FlowState end)
    {
        foreach (ControlFlowBranch? branch in new[] { block.FallThroughSuccessor, block.ConditionalSuccessor })
        {
            if (branch is not null)
            {
                yield return (branch, Fixpoint.OnBranch(_body, block, end, branch == block.ConditionalSuccessor));
            }
        }
    }

    private void CheckRunning(BasicBlock block, ControlFlowBranch branch, FlowState state, FlowState? behind)
    {
        bool isThrown = branch.Semantics is ControlFlowBranchSemantics.Throw or ControlFlowBranchSemantics.Rethrow;
        FlowState? outside = isThrown && state.Running != 0 && Edges.PassedByException(block) is { } passed
            ? Behind(passed, state, out _) : behind;
        ReportRunning(StillRunning(state, outside));
    }

    // Returns what is disposed between two points although a task uses it at both.
    private ulong StillRunning(FlowState before, FlowState? behind) => DisposedOnTheWay(before, behind)
        & before.SurelyRunning & ~before.OwnerEscaped & (behind?.SurelyRunning ?? 0) & _body.Sites.Buffers;

    // The graph does not say what a `throw` passes on its way out.
    private static ImmutableArray<ControlFlowRegion>? Passed(BasicBlock block, ControlFlowBranch branch) =>
        branch.Semantics is ControlFlowBranchSemantics.Throw ? Edges.PassedByException(block) : branch.FinallyRegions;

    private ulong Lost(ulong disposed, FlowState state) =>
        state.SurelyUndisposed & ~disposed & ~state.Handed & ~state.OwnerEscaped & _body.Sites.Buffers;

    private void ReportLeft(Location place, ulong disposed, FlowState state, Jump? jump = null)
    {
        ulong lost = Lost(disposed, state);
        for (int i = 0; lost != 0 && i < state.Count; i++)
        {
            // An owner in a variable outside of the loop is still there after the loop.
            lost &= jump is null || jump.Ends(_body.Variables.SymbolOf(i)) ? ulong.MaxValue : ~state[i].Keep;
        }

        if (lost != 0)
        {
            _lost.Add((jump is null ? LifetimeRules.SomePaths : LifetimeRules.LostByJump, place, lost, jump?.Word));
        }
    }

    // Signals of other threads are not visible here, so a body that waits for anything may wait for its tasks.
    private void ReportRunning(ulong sites)
    {
        if (sites != 0 && !_synchronization.MayWait)
        {
            ReportAll(sites);
        }
    }

    private void ReportAll(ulong sites)
    {
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            if ((sites >> site & 1) != 0 && _evaluator.BegunFor(site) is { } call)
            {
                DiagnosticDescriptor rule = !_body.Known.Types.IsTask(call.Type) ? LifetimeRules.Unawaitable
                    : _body.Symbol is IMethodSymbol { IsAsync: true } ? LifetimeRules.Unawaited
                    : LifetimeRules.UnawaitedOutsideAsync;
                if (rule != LifetimeRules.Unawaitable || !_synchronization.MayWaitForWork)
                {
                    _reporter.Report(rule, call, 1UL << site);
                }
            }
        }
    }

    /// <summary>Returns the state behind the <c>finally</c> blocks that a branch leaves; null if one of them never ends.</summary>
    private FlowState? Behind(ImmutableArray<ControlFlowRegion> regions, FlowState state, out ulong perhaps)
    {
        perhaps = 0;
        FlowState? current = state;
        foreach (ControlFlowRegion region in regions)
        {
            if (current is null)
            {
                return null;
            }

            current = Fixpoint.Through(region, current, _body, _evaluator, _cancellation);
            perhaps |= current is null ? 0 : current.Disposed | current.Handed | current.OwnerEscaped;
        }

        return current;
    }

    private ulong DeclaredWithUsing()
    {
        ulong declared = 0;
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            SyntaxNode syntax = _body.Sites[site].Operation.Syntax;
            bool isDeclared = syntax.FirstAncestorOrSelf<VariableDeclarationSyntax>()?.Parent
                is LocalDeclarationStatementSyntax { UsingKeyword.RawKind: not 0 } or UsingStatementSyntax;
            declared |= isDeclared ? 1UL << site : 0;
        }

        return declared;
    }

    // The owners that these blocks certainly dispose, and no other code.
    private static ulong DisposedOnTheWay(FlowState before, FlowState? behind) =>
        behind is null ? 0 : behind.SurelyDisposed & ~before.SurelyDisposed;
}
