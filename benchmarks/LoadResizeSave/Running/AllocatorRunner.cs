using System;
using System.Diagnostics;
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
    /// <param name="options">What to do.</param>
    /// <param name="kind">The allocator.</param>
    /// <param name="input">The folder of pictures.</param>
    /// <param name="onMessage">Called with each message of the child.</param>
    /// <param name="cancellationToken">Ends the child.</param>
    /// <param name="prepare">Changes how the child is started.</param>
    public Task<MeasuredRun> RunAsync(
        JobOptions options,
        AllocatorKind kind,
        string input,
        Action<ChildMessage> onMessage,
        CancellationToken cancellationToken,
        Action<ProcessStartInfo>? prepare = null)
        => ChildProcess.RunAsync(_commandLine.ChildArguments(options, kind, input), onMessage, cancellationToken, prepare);
}
