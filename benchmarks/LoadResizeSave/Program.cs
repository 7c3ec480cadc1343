namespace LoadResizeSave;

/// <summary>The entry point: the same program is the parent that the user starts and the child for each allocator.</summary>
internal static class Program
{
    private static readonly IChildTask[] s_tasks = [JobChild.Task, ContainedJobs.Task, PipelineChild.Task, Disturbances.Neighbour];

    private static Task<int> Main(string[] arguments)
    {
        if (arguments.FirstOrDefault() == ChildProgram.Argument)
        {
            return Task.FromResult(s_tasks.Any(task => task.TryServe(arguments)) ? 0 : 1);
        }

        RootCommand root = JobCommand.Create();
        root.Add(SurvivalMeasurement.Create());
        root.Add(ChaosMeasurement.Create());

        // With a time-out the command line listens to Ctrl+C, and the child is ended before this process ends.
        return root.Parse(arguments).InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = TimeSpan.FromSeconds(5) });
    }
}
