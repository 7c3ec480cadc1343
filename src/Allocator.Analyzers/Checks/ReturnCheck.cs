using System.Collections.Immutable;
using System.Threading;
using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC003 and ALLOC005: what a body returns, when its owner stays behind or is disposed on the way out.</summary>
internal sealed class ReturnCheck
{
    private readonly Body _body;
    private readonly Evaluator _evaluator;
    private readonly Reporter _reporter;
    private readonly CancellationToken _cancellation;

    public ReturnCheck(Body body, Evaluator evaluator, Reporter reporter, CancellationToken cancellation)
    {
        _body = body;
        _evaluator = evaluator;
        _reporter = reporter;
        _cancellation = cancellation;
    }

    /// <summary>Checks one <c>return</c>, and lets its value escape.</summary>
    public void Check(IOperation returned, Holding value, ControlFlowBranch branch, FlowState state)
    {
        ulong silent = state.OwnerEscaped | state.Pinned | ~_body.Sites.Buffers;
        ulong disposed = DisposedOnTheWay(branch.FinallyRegions, state) & ~silent;
        _reporter.Report(LifetimeRules.OutlivesOwner, returned, (value.Raw & ~state.Escaped & ~silent) | (value.Keep & disposed));
        if (disposed != 0 && _body.Symbol is IMethodSymbol { IsAsync: false } && TaskOrigin(returned) is { } call)
        {
            _reporter.Report(LifetimeRules.Unawaited, call, MemoryGivenTo(call, state) & disposed);
        }

        _evaluator.State = state;
        _evaluator.EscapeReturned(value);
    }

    /// <summary>Gives what the <c>finally</c> blocks that this return leaves dispose for sure, and only they.</summary>
    private ulong DisposedOnTheWay(ImmutableArray<ControlFlowRegion> regions, FlowState state)
    {
        FlowState? current = state;
        foreach (ControlFlowRegion region in regions)
        {
            if (current is null)
            {
                return 0;
            }

            current = Fixpoint.Through(region, current, _body, _evaluator, _cancellation);
        }

        return current is null ? 0 : current.SurelyDisposed & ~state.SurelyDisposed;
    }

    /// <summary>Gives the base library's call that made the returned task, past what only wraps it.</summary>
    private IInvocationOperation? TaskOrigin(IOperation returned)
    {
        IInvocationOperation? call = returned.Strip() as IInvocationOperation;
        while (call is { TargetMethod.Name: "AsTask" or "ConfigureAwait" or "Preserve" or "WaitAsync", Instance: { } task })
        {
            call = task.Strip() as IInvocationOperation;
        }

        return call is not null
            && _body.Known.Types.IsTask(call.Type)
            && _body.Known.Members.IsOfBaseLibrary(call.TargetMethod)
            && !_body.Known.Types.IsMemoryStream(call.Instance?.Type)
            ? call
            : null;
    }

    private ulong MemoryGivenTo(IInvocationOperation call, FlowState state)
    {
        ulong given = 0;
        foreach (IArgumentOperation argument in call.Arguments)
        {
            if (!_body.Known.Types.IsMemory(argument.Parameter?.OriginalDefinition.Type))
            {
                continue;
            }

            _evaluator.State = state.Clone();
            given |= _evaluator.Evaluate(argument.Value).Keep;
        }

        return given;
    }
}
