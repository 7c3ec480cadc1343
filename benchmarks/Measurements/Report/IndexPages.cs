namespace Measurements.Report;

/// <summary>The indexes: one for each processor, and one over the processors. Each begins with what somebody wrote by hand.</summary>
internal static class IndexPages
{
    private const string Name = "README.md";

    public static void AddTo(PageSet pages, ResultTree tree)
    {
        foreach (ProcessorResults processor in tree.Processors)
        {
            pages.Add($"{processor.Name}/{Name}", Write(processor));
        }

        pages.Add(Name, Write(tree));
    }

    private static string Write(ResultTree tree) => Page("Results", tree.Notes, Markdown.Table(
        ["processor", "results", "measured"],
        0,
        tree.Processors.Select(processor => (string[])[
            Markdown.Link(processor.Name, $"{processor.Name}/{Name}"),
            processor.Results.Count == 0 ? "notes only" : processor.Results.Count.ToString(CultureInfo.InvariantCulture),
            Dates(processor.Results),
        ])));

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
                $"{Markdown.Link(result.Name, Within(processor, result.Stem + ".md"))} ({Markdown.Link("data", Within(processor, result.Path))})",
                Markdown.Text(result.Document.Title),
                Date(result),
                Markdown.Code(result.Document.Command),
            ])));
    }

    private static string Page(string title, params IEnumerable<string?> parts)
    {
        string[] start =
        [
            $"# {Markdown.Text(title)}\n",
            $"<!-- Made by benchmarks/Report: changes here are lost. What is written by hand belongs into {ResultTree.NotesName} "
                + "beside this file. -->\n",
        ];
        return string.Join('\n', start.Concat(parts.OfType<string>().Select(part => part.EndsWith('\n') ? part : part + "\n")));
    }

    private static string Dates(IReadOnlyList<StoredResult> results)
    {
        List<string> dates = [.. results.Select(Date).Order(StringComparer.Ordinal).Distinct()];
        return dates.Count switch { 0 => "", 1 => dates[0], _ => $"{dates[0]} to {dates[^1]}" };
    }

    private static string Date(StoredResult result) => result.Document.Date.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

    private static string Within(ProcessorResults processor, string path) => path[(processor.Name.Length + 1)..];
}
