using LoadResizeSave.Chaos;
using LoadResizeSave.Containers;
using LoadResizeSave.Limits;
using LoadResizeSave.Mixed;
using LoadResizeSave.Survival;

namespace LoadResizeSave;

/// <summary>
/// The entry point: the same program is the parent that the user starts and the child that it starts for each allocator.
/// </summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        CommandLine commandLine = new();
        commandLine.Root.Subcommands.Add(new SurvivalCommand().Command);
        commandLine.Root.Subcommands.Add(new MixedCommand().Command);
        commandLine.Root.Subcommands.Add(new ChaosCommand().Command);
        commandLine.Root.Subcommands.Add(NeighbourCommand.Create());
        commandLine.Root.Subcommands.Add(ContainedCommand.Create());
        commandLine.Root.SetAction((result, cancellationToken) => RunAsync(commandLine, result, cancellationToken));

        // With a time-out the command line listens to Ctrl+C, and the child is ended before this process ends.
        return commandLine.Root.Parse(arguments).InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = TimeSpan.FromSeconds(5) });
    }

    private static async Task<int> RunAsync(CommandLine commandLine, ParseResult arguments, CancellationToken cancellationToken)
    {
        JobOptions options = commandLine.Read(arguments);
        if (options.IsChild)
        {
            ChildProgram.EndWithParent();
            new MeasuringChild(options, Console.Out).Run();
            return 0;
        }

        AllocatorRunner runner = new(commandLine);
        IAnsiConsole console = ResultConsole.Create();
        IJobMeasurement measurement = options.MemoryLimits.Count > 0
            ? new LimitMeasurement(runner, options, console, title => CommandLine.NewDocument(title, arguments))
            : options.Runs == 1
            ? new SingleMeasurement(runner, options, console)
            : new RoundMeasurement(runner, options, console, title => CommandLine.NewDocument(title, arguments));
        return await new Job(runner, options, measurement, console).RunAsync(cancellationToken);
    }
}
