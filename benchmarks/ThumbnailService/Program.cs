namespace ThumbnailService;

/// <summary>
/// The entry point: the load generator, or with the command <c>serve</c> the service that it starts and puts under load.
/// </summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        RootCommand root = new("Puts a web service that makes thumbnails under more load than fits its memory, with a budget and without.")
        {
            ServeCommand.Create(),
        };
        ServiceOptions options = new();
        options.AddTo(root);
        return root.Measures("ThumbnailService", (run, _) => MeasureAsync(run, options.Read(run))).Parse(arguments).InvokeAsync();
    }

    private static async Task<ResultDocument?> MeasureAsync(MeasurementRun run, ServiceLoad load)
        => await new ServiceMeasurement(load, run).RunAsync();
}
