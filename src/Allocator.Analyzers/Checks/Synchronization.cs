using Allocator.Analyzers.Flow;

namespace Allocator.Analyzers.Checks;

/// <summary>Looks for what a body may wait with for the tasks that it began: events, counters, threads, whatever is called so.</summary>
internal sealed class Synchronization
{
    private static readonly string[] s_words = { "Wait", "Join", "Drain", "Sleep", "Spin", "Complete", "Stop", "Synchron", "Finish" };

    private readonly Lazy<bool> _mayWait;
    private readonly Lazy<bool> _mayWaitForWork;

    public Synchronization(Body body)
    {
        _mayWait = new Lazy<bool>(() => Look(body.Graph.OriginalOperation));
        _mayWaitForWork = new Lazy<bool>(() => MayWait || body.Graph.OriginalOperation.Descendants().Any(
            operation => operation is IAwaitOperation or IWhileLoopOperation));
    }

    /// <summary>Gets the same of work that has no task: any task may tell of its end, and a field that is read again and again.</summary>
    public bool MayWaitForWork => _mayWaitForWork.Value;

    /// <summary>Gets whether the body calls anything of the kind, beside the tasks themselves.</summary>
    public bool MayWait => _mayWait.Value;

    private static bool Look(IOperation body)
    {
        foreach (IOperation operation in body.Descendants())
        {
            if (operation is IInvocationOperation { TargetMethod: var method } && IsWait(method))
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
            // Of a task that is followed, these are seen where they stand.
            return false;
        }

        return (space?.StartsWith("System.Threading", StringComparison.Ordinal) == true && method.ContainingType.Name != "ThreadPool")
            || Array.Exists(s_words, word => method.Name.IndexOf(word, StringComparison.Ordinal) >= 0);
    }
}
