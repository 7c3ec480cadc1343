using System.CommandLine;
using System.IO;
using System.Threading.Tasks;
using Allocator.Benchmarks.Running;
using Measuring;
using Measuring.Machines;
using Measuring.Results;

namespace Allocator.Benchmarks;

/// <summary>The entry point: reads the command line and runs the benchmarks that it asks for, all of them where it asks for none.</summary>
internal static class Program
{
    private const string Name = "Allocator.Benchmarks";

    private static Task<int> Main(string[] arguments)
    {
        Option<string[]> filter = new("--filter", "-f")
        {
            Description = "Run only benchmarks whose full name matches, for instance *Contention*; several may be given.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [],
        };
        MeasurementCommand command = new(Name, "Measures, with BenchmarkDotNet, what takes less than a millisecond: renting, clearing, rows, pages, and a small job.");
        command.Root.Add(filter);
        command.Root.SetAction(parsed =>
        {
            ResultDocument empty = command.NewDocument(Name, parsed);
            string folder = parsed.GetValue(command.Output)?.FullName
                ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(empty.Machine));
            RunLength length = parsed.GetValue(command.Quick) ? RunLength.Quick : RunLength.Full;
            return new BenchmarkRun(length, parsed.GetRequiredValue(filter), ResultConsole.Create()).Run(empty, folder);
        });
        return command.Root.Parse(arguments).InvokeAsync();
    }
}
