using System.CommandLine;
using System.IO;
using System.Threading.Tasks;
using Measuring.Results;

namespace Report;

/// <summary>The entry point.</summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        Argument<DirectoryInfo> folder = new("folder")
        {
            Description = "The folder of results, which has a folder for each processor.",
            DefaultValueFactory = _ => new DirectoryInfo(Path.Combine("benchmarks", "results")),
        };
        RootCommand root = new("Writes a page and the charts for each result file, and the indexes over them.") { folder };
        root.SetAction(parsed => new ReportCommand(parsed.GetRequiredValue(folder).FullName, ResultConsole.Create()).Run());
        return root.Parse(arguments).InvokeAsync();
    }
}
