namespace Measurements;

/// <summary>
/// The entry point: a measurement for each subcommand. The same program is the child that measurements start for each subject.
/// </summary>
internal static class Program
{
    private static readonly IChildTask[] s_tasks = [HeapTrial.Task, CopyBench.Task, ChurnRun.Task, BurstRun.Task, FactorTrial.Task];

    private static Task<int> Main(string[] arguments)
        => arguments.FirstOrDefault() == ChildProgram.Argument
            ? Task.FromResult(s_tasks.Any(task => task.TryServe(arguments)) ? 0 : 1)
            : CreateRoot().Parse(arguments).InvokeAsync();

    internal static RootCommand CreateRoot() =>
        new("Measures memory: each command one question, with a result file that the command report turns into a page.")
        {
            LatencyCommand.Create(),
            InstructionsCommand.Create(),
            HeapsCommand.Create(),
            CopiesCommand.Create(),
            AlignmentCommand.Create(),
            FragmentationCommand.Create(),
            TransfersCommand.Create(),
            FactorsCommand.Create(),
            AllCommand.Create(),
            ReportCommand.Create(),
        };
}
