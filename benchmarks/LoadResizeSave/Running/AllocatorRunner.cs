using System;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Pixels;
using Measuring.Processes;

namespace LoadResizeSave.Running;

/// <summary>Runs the job with one allocator, in a child process.</summary>
internal sealed class AllocatorRunner
{
    private readonly CommandLine _commandLine;

    /// <summary>Takes the way from options to a child's command line.</summary>
    public AllocatorRunner(CommandLine commandLine)
    {
        _commandLine = commandLine;
    }

    /// <summary>Returns what the child measured.</summary>
    /// <exception cref="ChildFailedException">It failed.</exception>
    public Task<MeasuredRun> RunAsync(JobOptions options, AllocatorKind kind, string input, Action<ChildMessage> onMessage, CancellationToken cancellationToken)
        => ChildProcess.RunAsync(_commandLine.ChildArguments(options, kind, input), onMessage, cancellationToken);
}
