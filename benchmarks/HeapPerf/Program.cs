using System.Threading.Tasks;
using HeapPerf.Children;
using HeapPerf.Reporting;
using HeapPerf.Running;
using Measuring;

namespace HeapPerf;

/// <summary>The entry point: the same program is the parent that the user starts and the child that it starts for each measurement.</summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        if (arguments is [ChildProcess.Argument, string request])
        {
            Child.Run(request);
            return Task.FromResult(0);
        }

        MeasurementCommand command = new(
            "HeapPerf", "Allocates and frees from 1 to 128 threads at once, and compares the pool with ArrayPool and native heaps in time and peak memory.");
        CommandLine commandLine = new(command);
        return command.RunAsync(arguments, (parsed, console) =>
        {
            Measurement measurement = new(commandLine.Read(parsed), console);
            Measurements measurements = measurement.Run();
            return Report.Create(
                command.NewDocument("HeapPerf: threads that allocate and free at the same time", parsed), measurements, measurement.Remarks, measurement.Elapsed);
        });
    }
}
