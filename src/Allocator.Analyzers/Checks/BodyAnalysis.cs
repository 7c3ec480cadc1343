using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Checks;

/// <summary>Analyses one body, and separately each lambda and local function in it.</summary>
internal sealed class BodyAnalysis
{
    private readonly KnownSymbols _known;
    private readonly Action<Diagnostic> _report;
    private readonly CancellationToken _cancellation;

    public BodyAnalysis(KnownSymbols known, Action<Diagnostic> report, CancellationToken cancellation)
    {
        _known = known;
        _report = report;
        _cancellation = cancellation;
    }

    /// <summary>Reports what is wrong in the body.</summary>
    public void Run(ControlFlowGraph graph, ISymbol symbol)
    {
        RunAlone(graph, symbol);
        foreach (IMethodSymbol function in graph.LocalFunctions)
        {
            Run(graph.GetLocalFunctionControlFlowGraph(function, _cancellation), function);
        }

        foreach (BasicBlock block in graph.Blocks)
        {
            foreach (IOperation statement in block.Statements())
            {
                RunLambdas(graph, statement);
            }
        }
    }

    private void RunLambdas(ControlFlowGraph graph, IOperation statement)
    {
        foreach (IOperation operation in statement.DescendantsAndSelf())
        {
            // The lambda of an expression tree is data: it never runs as code.
            if (operation is IFlowAnonymousFunctionOperation lambda && !lambda.IsExpressionTree())
            {
                Run(graph.GetAnonymousFunctionControlFlowGraph(lambda, _cancellation), lambda.Symbol);
            }
        }
    }

    private void RunAlone(ControlFlowGraph graph, ISymbol symbol)
    {
        SiteTable sites = new(graph, _known.Factories, _known.Types);
        if (sites.Count is 0 or > SiteTable.Limit)
        {
            return;
        }

        Body body = new(graph, symbol, _known, sites);
        if (body.Variables.HasAliases)
        {
            return;
        }

        Evaluator evaluator = new(body);
        FlowState?[] entries = Fixpoint.OfBody(body, evaluator, _cancellation);
        if (evaluator.HasNewSlots)
        {
            entries = Fixpoint.OfBody(body, evaluator, _cancellation);
        }

        Reporter reporter = new(sites);
        FlowState? exit = entries[entries.Length - 1];
        CheckStatements(body, evaluator, entries, reporter);
        StoreCheck.Run(evaluator.Stores, exit, reporter);
        LeakCheck.Run(body, evaluator.EverDisposed | evaluator.EverEscaped, reporter);
        reporter.Finish(evaluator.EverEscaped | (exit?.Running ?? 0), _report);
    }

    private void CheckStatements(Body body, Evaluator evaluator, FlowState?[] entries, Reporter reporter)
    {
        UseCheck uses = new(body, evaluator, reporter);
        ExitCheck exits = new(body, evaluator, reporter, _cancellation);
        WayCheck ways = new(body, evaluator, entries, _cancellation);
        foreach (BasicBlock block in body.Graph.Blocks)
        {
            if (entries[block.Ordinal] is not { } entry)
            {
                continue;
            }

            FlowState state = entry.Clone();
            int index = 0;
            foreach (IOperation statement in block.Statements())
            {
                FlowState before = state.Clone();
                evaluator.State = state;
                evaluator.Uses = new List<Use>();
                evaluator.Findings = new List<Finding>();
                evaluator.Interruptions = new List<Interruption>();
                bool isReturn = statement == block.BranchValue
                    && block.FallThroughSuccessor?.Semantics == ControlFlowBranchSemantics.Return;
                Holding value = evaluator.Evaluate(statement, asLocation: isReturn && ReturnsReference(body.Symbol));
                foreach (Use use in evaluator.Uses)
                {
                    uses.Check(use, statement, before, state, block, index);
                }

                foreach (Finding finding in evaluator.Findings)
                {
                    exits.Report(finding);
                }

                List<Interruption> interruptions = evaluator.Interruptions;
                evaluator.Uses = null;
                evaluator.Findings = null;
                evaluator.Interruptions = null;
                foreach (Interruption interruption in interruptions)
                {
                    exits.CheckInterrupted(block, interruption);
                }

                if (isReturn)
                {
                    exits.CheckReturn(statement, value, block.FallThroughSuccessor!, before, state);
                }

                index++;
            }

            exits.CheckLeft(block, state);
            ways.Follow(block, state, uses.CheckDisposed);
        }

        ways.FollowRounds(uses.CheckDisposed);
        exits.ReportLost();
    }

    private static bool ReturnsReference(ISymbol symbol) =>
        symbol is IMethodSymbol { ReturnsByRef: true } or IMethodSymbol { ReturnsByRefReadonly: true };
}
