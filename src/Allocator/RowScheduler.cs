namespace Allocator;

/// <summary>
/// Runs the bands of an image on the thread pool, or on the thread that waits for them: <see cref="Parallel"/> waits for every task that
/// it has queued, also where no band is left, and threads of the pool may all be blocked, by waits for the very memory of that image.
/// </summary>
internal sealed class RowScheduler : TaskScheduler
{
    public static RowScheduler Shared { get; } = new();

    // The task itself carries the flow of execution. False from a second attempt: the thread that waits was faster.
    protected override void QueueTask(Task task) =>
        ThreadPool.UnsafeQueueUserWorkItem(_ => TryExecuteTask(task), null);

    // False where it has begun on another thread, which is waited for then.
    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => TryExecuteTask(task);

    // For debuggers.
    protected override IEnumerable<Task> GetScheduledTasks() => [];
}
