using System;
using System.CommandLine;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Running;
using Spectre.Console;

namespace LoadResizeSave;

/// <summary>The entry point: the same program is the parent that the user starts and the child that it starts for each allocator.</summary>
internal static class Program
{
    // A table that is cut at 80 columns in a log file is of no use to anybody.
    private const int RedirectedWidth = 130;

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

        return await new Job(commandLine, options, CreateConsole()).RunAsync(cancellationToken);
    }

    private static IAnsiConsole CreateConsole()
    {
        if (!Console.IsOutputRedirected)
        {
            return AnsiConsole.Console;
        }

        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, ColorSystem = ColorSystemSupport.NoColors });
        console.Profile.Width = RedirectedWidth;
        return console;
    }
}
