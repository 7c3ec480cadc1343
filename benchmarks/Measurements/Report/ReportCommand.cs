namespace Measurements.Report;

/// <summary>Reads all results, makes all pages, and only then writes them: a damaged file leaves everything as it was.</summary>
internal static class ReportCommand
{
    private const string IndexName = "README.md";

    public static Command Create()
    {
        Argument<DirectoryInfo> folder = new Argument<DirectoryInfo>("folder")
        {
            Description = "The folder of results, which has a folder for each processor.",
            DefaultValueFactory = _ => new DirectoryInfo(Path.Combine("benchmarks", "results")),
        }.AcceptExistingOnly();
        Command command = new(
            "report", "Writes a page and the charts for each result file, the indexes over them, and the tables of the README.")
        {
            folder,
        };
        command.SetAction(parsed =>
        {
            string root = Environment.CurrentDirectory;
            string results = parsed.GetRequiredValue(folder).FullName;

            // The README has tables of the committed results, and of none that lie elsewhere.
            return Run(results, ResultConsole.Create(), results == Path.Combine(root, "benchmarks", "results") ? root : null);
        });
        return command;
    }

    /// <summary>Makes the report, and the tables of the README in <paramref name="root"/>; returns the exit code.</summary>
    public static int Run(string folder, IAnsiConsole console, string? root = null)
    {
        // Two results that need a file of the same name are refused as well.
        SortedDictionary<string, string> pages = new(StringComparer.Ordinal);
        try
        {
            ResultTree tree = ResultTree.Read(folder);
            AddIndexes(pages, tree);
            foreach (StoredResult result in tree.Processors.SelectMany(processor => processor.Results))
            {
                ResultPage.AddTo(pages, result);
            }

            if (root is not null)
            {
                string readme = Path.Combine(root, IndexName);
                pages.Add(
                    Path.GetRelativePath(folder, readme), ReadmeTables.Update(File.ReadAllText(readme), tree, "benchmarks/results"));
            }
        }
        catch (Exception exception) when (exception is InvalidDataException or ArgumentException)
        {
            console.MarkupLineInterpolated($"[red]{exception.Message}[/]");
            console.MarkupLine("[red]nothing was written[/]");
            return 1;
        }

        foreach ((string path, string content) in pages)
        {
            File.WriteAllText(Path.Combine(folder, path), content);
        }

        console.WriteLine($"{pages.Count} files written to {folder}");
        return 0;
    }

    // One for each processor, and one over the processors. Each begins with what is written by hand.
    private static void AddIndexes(SortedDictionary<string, string> pages, ResultTree tree)
    {
        foreach (ProcessorResults processor in tree.Processors)
        {
            pages.Add($"{processor.Name}/{IndexName}", Write(processor));
        }

        pages.Add(IndexName, Page("Results", tree.Notes, Markdown.Table(
            ["processor", "results", "measured"],
            0,
            tree.Processors.Select(processor => (string[])[
                Markdown.Link(processor.Name, $"{processor.Name}/{IndexName}"),
                processor.Results.Count == 0 ? "notes only" : Invariant($"{processor.Results.Count}"),
                Dates(processor.Results),
            ]))));
    }

    private static string Write(ProcessorResults processor)
    {
        if (processor.Results.Count == 0)
        {
            return Page(processor.Name, processor.Notes);
        }

        string machines = string.Concat(processor.Results.Select(result => MachineText.Describe(result.Document.Machine)).Distinct()
            .Select(machine => $"- {Markdown.Text(machine)}\n"));
        return Page(processor.Name, processor.Notes, machines, Markdown.Table(
            ["result", "what", "date", "command"],
            0,
            processor.Results.Select(result => (string[])[
                Markdown.Link(result.Name, Within(processor, result.Stem + ".md"))
                    + $" ({Markdown.Link("data", Within(processor, result.Path))})",
                Markdown.Text(result.Document.Title),
                result.Date,
                Markdown.Code(result.Document.Command),
            ])));
    }

    private static string Page(string title, params IEnumerable<string?> parts)
    {
        string[] start =
        [
            $"# {Markdown.Text(title)}\n",
            $"<!-- Made by Measurements report: changes here are lost. What is written by hand belongs into {ResultTree.NotesName} "
                + "beside this file. -->\n",
        ];
        return string.Join('\n', start.Concat(parts.OfType<string>().Select(part => part.EndsWith('\n') ? part : part + "\n")));
    }

    private static string Dates(IReadOnlyList<StoredResult> results)
    {
        List<string> dates = [.. results.Select(result => result.Date).Order(StringComparer.Ordinal).Distinct()];
        return dates.Count switch { 0 => "", 1 => dates[0], _ => $"{dates[0]} to {dates[^1]}" };
    }

    private static string Within(ProcessorResults processor, string path) => path[(processor.Name.Length + 1)..];
}
