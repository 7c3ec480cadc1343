using ThumbnailService.Serving;
using ThumbnailService.Trials;

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
        return root.Measures("ThumbnailService", run => Measure(run, options.Read(run))).Parse(arguments).InvokeAsync();
    }

    private static ResultDocument Measure(MeasurementRun run, ServiceLoad load)
    {
        ServiceMeasurement measurement = new(load, run.Console);
        ResultDocument document = measurement.RunAsync(run.NewDocument).GetAwaiter().GetResult();
        foreach (string failure in measurement.Failures)
        {
            Console.Error.WriteLine(failure);
        }

        run.HasFailed = measurement.Failures.Count > 0;
        return document;
    }
}
