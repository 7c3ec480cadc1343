using Allocator.Analyzers.Flow;

namespace Allocator.Analyzers.Checks;

/// <summary>Looks for calls by which a body may wait for the tasks that it began: events, counters, threads and the like.</summary>
internal sealed class Synchronization
{
    private static readonly string[] s_words = { "Wait", "Join", "Drain", "Sleep", "Spin", "Complete", "Stop", "Synchron", "Finish" };

    private readonly Lazy<bool> _mayWait;
    private readonly Lazy<bool> _mayWaitForWork;

    public Synchronization(Body body)
    {
        _mayWait = new Lazy<bool>(() => Look(body.Graph.OriginalOperation));
        _mayWaitForWork = new Lazy<bool>(() => MayWait || body.Graph.OriginalOperation.Descendants().Any(
            operation => operation is IAwaitOperation or IWhileLoopOperation or IForLoopOperation { Condition: null }
                || (operation is IInvocationOperation { TargetMethod: var called } && !body.Known.Members.IsKnown(called)
                    && body.Known.Bodies.Of(called) is null)));
    }

    /// <summary>Gets the same for work without a task: any task, field or invisible code may signal its end.</summary>
    public bool MayWaitForWork => _mayWaitForWork.Value;

    /// <summary>Gets whether the body contains such a call, apart from those on the tasks themselves.</summary>
    public bool MayWait => _mayWait.Value;

    private static bool Look(IOperation body)
    {
        foreach (IOperation operation in body.Descendants())
        {
            // The code that completes the task of such a source may do so when another task has ended.
            if (operation is { Type.Name: "TaskCompletionSource" }
                || (operation is IInvocationOperation { TargetMethod: var method } && IsWait(method)))
            {
                return true;
            }
        }

        return false;
    }

    private static bool IsWait(IMethodSymbol method)
    {
        string? space = method.ContainingNamespace?.ToDisplayString();
        if (space == "System.Threading.Tasks")
        {
            // For a task that is followed, these calls are evaluated themselves.
            return false;
        }

        return (space?.StartsWith("System.Threading", StringComparison.Ordinal) == true && method.ContainingType.Name != "ThreadPool")
            || method.ContainingType.Name == "BlockingCollection"
            || Array.Exists(s_words, word => method.Name.IndexOf(word, StringComparison.Ordinal) >= 0);
    }
}
