using Allocator.Analyzers.Lattice;

namespace Allocator.Analyzers.Flow;

/// <summary>An <c>await task.WaitAsync(…)</c> that throws when the time is over or a token is cancelled, while the task goes on.</summary>
internal readonly struct Interruption
{
    private static readonly string[] s_timeout = { "TimeoutException", "SystemException", "Exception", "Object" };

    private static readonly string[] s_cancellation =
    {
        "TaskCanceledException", "OperationCanceledException", "SystemException", "Exception", "Object",
    };

    private readonly IMethodSymbol _method;

    public Interruption(IInvocationOperation call, FlowState state)
    {
        _method = call.TargetMethod;
        State = state;
    }

    /// <summary>Gets the state in which the exception leaves the statement.</summary>
    public FlowState State { get; }

    /// <summary>Gets, for each exception that the call may throw, the types under which a handler catches it.</summary>
    public IEnumerable<string[]> Thrown =>
        _method.Parameters.Select(parameter => parameter.Type.Name == nameof(CancellationToken) ? s_cancellation : s_timeout);
}
