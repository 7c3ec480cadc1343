using System;
using System.CommandLine;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Running;
using Measuring.Results;

namespace LoadResizeSave;

/// <summary>The entry point: the same program is the parent that the user starts and the child that it starts for each allocator.</summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        CommandLine commandLine = new();
        commandLine.Root.SetAction((result, cancellationToken) => RunAsync(commandLine, commandLine.Read(result), cancellationToken));

        // With a time-out the command line listens to Ctrl+C, and the child is ended before this process ends.
        return commandLine.Root.Parse(arguments).InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = TimeSpan.FromSeconds(5) });
    }

    private static async Task<int> RunAsync(CommandLine commandLine, JobOptions options, CancellationToken cancellationToken)
    {
        if (options.IsChild)
        {
            ParentWatch.Start();
            new MeasuringChild(options, Console.Out).Run();
            return 0;
        }

        return await new Job(commandLine, options, ResultConsole.Create()).RunAsync(cancellationToken);
    }
}
