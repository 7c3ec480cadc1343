using System;
using System.Threading.Tasks;
using Measuring;
using ThumbnailService.Serving;
using ThumbnailService.Trials;

namespace ThumbnailService;

/// <summary>The entry point: the load generator, or with the command <c>serve</c> the service that it starts and puts under load.</summary>
internal static class Program
{
    private const int Failed = 1;

    private static async Task<int> Main(string[] arguments)
    {
        MeasurementCommand command = new("ThumbnailService", "Puts a web service that makes thumbnails under more load than fits its memory, with a budget and without.");
        ServiceOptions options = new();
        options.AddTo(command.Root);
        command.Root.Subcommands.Add(ServeCommand.Create());

        ServiceMeasurement? measurement = null;
        int exitCode = await command.RunAsync(arguments, (parsed, console) =>
        {
            measurement = new ServiceMeasurement(options.Read(parsed, parsed.GetValue(command.Quick)), console);
            return measurement.RunAsync(title => command.NewDocument(title, parsed)).GetAwaiter().GetResult();
        });
        foreach (string failure in measurement?.Failures ?? [])
        {
            await Console.Error.WriteLineAsync(failure);
        }

        return measurement?.Failures.Count > 0 ? Failed : exitCode;
    }
}
