namespace ThumbnailService;

/// <summary>The entry point: the load generator, or with the command <c>serve</c> the service that it puts under load.</summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        RootCommand root = new(
            "Puts a web service that makes thumbnails under more load than fits its memory: one that runs, or one in a memory cgroup.")
        {
            ServeCommand.Create(),
            MixedMeasurement.Create(),
            MixedService.Create(),
        };
        ServiceOptions.AddTo(root);
        return root.Measures("ThumbnailService", (run, _) => ServiceMeasurement.RunAsync(run)).Parse(arguments).InvokeAsync();
    }
}
