namespace Measurements.Report;

/// <summary>Reads all results, makes all pages, and only then writes them: a damaged file leaves everything as it was.</summary>
internal sealed class ReportCommand(string folder, IAnsiConsole console)
{
    private readonly string _folder = folder;

    public static Command Create()
    {
        Argument<DirectoryInfo> folder = new("folder")
        {
            Description = "The folder of results, which has a folder for each processor.",
            DefaultValueFactory = _ => new DirectoryInfo(Path.Combine("benchmarks", "results")),
        };
        Command command = new("report", "Writes a page and the charts for each result file, and the indexes over them.") { folder };
        command.SetAction(parsed => new ReportCommand(parsed.GetRequiredValue(folder).FullName, ResultConsole.Create()).Run());
        return command;
    }

    /// <summary>Makes the report; returns the exit code.</summary>
    public int Run()
    {
        if (!Directory.Exists(_folder))
        {
            console.MarkupLineInterpolated($"[red]There is no folder {_folder}.[/]");
            return 1;
        }

        ResultTree tree = ResultTree.Read(_folder);
        PageSet pages = new(_folder);
        List<string> damages = [.. tree.Damages];

        // The indexes first: a result that is called as they are is told so.
        IndexPages.AddTo(pages, tree);
        foreach (StoredResult result in tree.Processors.SelectMany(processor => processor.Results))
        {
            try
            {
                ResultPage.AddTo(pages, result);
            }
            catch (InvalidDataException exception)
            {
                damages.Add($"{result.Path}: {exception.Message}");
            }
        }

        foreach (string word in tree.Skipped)
        {
            console.MarkupLineInterpolated($"[grey]skipped {word}[/]");
        }

        if (damages.Count > 0)
        {
            foreach (string damage in damages)
            {
                console.MarkupLineInterpolated($"[red]{damage}[/]");
            }

            console.MarkupLine("[red]nothing was written[/]");
            return 1;
        }

        foreach (string path in pages.Write())
        {
            console.WriteLine($"wrote   {path}");
        }

        foreach (string path in pages.FindStrangers(tree))
        {
            console.MarkupLineInterpolated($"[yellow]{path} belongs to no result: an earlier name of a chart or a program?[/]");
        }

        return 0;
    }
}
