namespace LoadResizeSave.Running;

/// <summary>Runs the job with one allocator, in a child process.</summary>
internal sealed class AllocatorRunner(CommandLine commandLine)
{
    /// <exception cref="ChildFailedException">It failed.</exception>
    public Task<MeasuredRun> RunAsync(
        JobOptions options,
        AllocatorKind kind,
        string input,
        Action<ChildMessage> onMessage,
        CancellationToken cancellationToken,
        Action<ProcessStartInfo>? prepare = null)
        => ChildProcess.RunAsync(commandLine.ChildArguments(options, kind, input), onMessage, cancellationToken, prepare);
}
