namespace Measurements.Report;

/// <summary>The page about one result, and its charts.</summary>
internal static partial class ResultPage
{
    private const string Missing = "–";

    // A title may be a sentence; a name is to be read in a list of files.
    private const int MostCharacters = 48;

    public static void AddTo(SortedDictionary<string, string> pages, StoredResult result)
    {
        ResultDocument document = result.Document;
        List<(string Title, string Name)> pictures = [.. document.Pictures.Select(picture => (picture.Title, picture.File))];
        if (
            pictures.FirstOrDefault(
                picture => !File.Exists(Path.Combine(result.Folder, result.Beside(picture.Name)))) is { Name: { } missing })
        {
            throw new InvalidDataException(
                $"{result.Path}: the picture {missing}, which the program drew itself, does not lie beside it.");
        }

        foreach (ResultChart chart in document.Charts)
        {
            // A single chart is called as its result; of several, each has its title in the name, and a number where titles are alike.
            string name = document.Charts.Count == 1 ? result.Name : $"{result.Name}-{Slug(chart.Title)}";
            string file = name + ".svg";
            for (int i = 2; pictures.Any(picture => picture.Name == file); i++)
            {
                file = Invariant($"{name}-{i}.svg");
            }

            pages.Add(result.Beside(file), SvgElements.Draw(chart));
            pictures.Add((chart.Title, file));
        }

        pages.Add(result.Stem + ".md", Write(result, pictures));
    }

    /// <summary>
    /// Returns as many words of <paramref name="title"/> as make a name, in small letters and digits, with hyphens between.
    /// </summary>
    private static string Slug(string title)
    {
        string slug = Others().Replace(title.ToLowerInvariant(), "-").Trim('-');
        int end = slug.Length <= MostCharacters ? slug.Length : slug.LastIndexOf('-', MostCharacters);
        return slug[..(end > 0 ? end : MostCharacters)];
    }

    private static string Write(StoredResult result, List<(string Title, string Name)> pictures)
    {
        ResultDocument document = result.Document;
        MachineDescription machine = document.Machine;
        StringBuilder page = new();
        _ = page.Append($"# {Markdown.Text(document.Title)}\n\n")
            .Append($"<!-- Made by Measurements report from {result.Name}.json: changes here are lost. -->\n\n")
            .Append(Markdown.Table(["", ""], 0, (string[][])[
                ["program", Markdown.Text(document.Program)],
                ["command", Markdown.Code(document.Command)],
                ["date", document.Date.UtcDateTime.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)],
                .. document.Commit is null ? [] : (string[][])[["commit", Markdown.Code(document.Commit)]],
                ["machine", Markdown.Text(MachineText.Describe(machine))],
                ["pages", DescribePages(machine)],
                ["data", Markdown.Link(result.Name + ".json", result.Name + ".json")],
            ]));
        foreach (ResultTable table in document.Tables)
        {
            _ = page.Append($"\n## {Markdown.Text(table.Title)}\n\n").Append(Write(table));
        }

        if (document.Notes.Count > 0)
        {
            _ = page.Append("\n## Notes\n\n").AppendJoin("", document.Notes.Select(note => $"- {Markdown.Text(note)}\n"));
        }

        if (document.Failures.Count > 0)
        {
            _ = page.Append("\n## Failed\n\n").AppendJoin("", document.Failures.Select(failure => $"- {Markdown.Text(failure)}\n"));
        }

        foreach ((string title, string name) in pictures)
        {
            _ = page.Append($"\n## {Markdown.Text(title)}\n\n{Markdown.Picture(title, name)}\n");
        }

        return page.ToString();
    }

    /// <summary>Returns a table in Markdown.</summary>
    public static string Write(ResultTable table)
    {
        if (table.Rows.Any(row => row.Labels.Count != table.Labels.Count || row.Values.Count != table.Columns.Count))
        {
            throw new InvalidDataException($"A row of the table \"{table.Title}\" is not as long as its headings.");
        }

        IEnumerable<string> columns = table.Columns.Select(column => column.Unit is null ? column.Name : $"{column.Name}, {column.Unit}");
        return Markdown.Table(
            [.. table.Labels.Concat(columns).Select(Markdown.Text)],
            table.Columns.Count,
            table.Rows.Select(row => row.Labels.Concat(row.Values.Zip(table.Columns, Write)).Select(Markdown.Text)));
    }

    private static string DescribePages(MachineDescription machine) =>
        Invariant($"{machine.PageSize:N0} bytes; transparent huge pages: {machine.HugePages ?? "none"}")
        + (machine.FirstWriteMicroseconds is double time ? Invariant($"; first write to one: {time:0.0} µs") : "");

    private static string Write(double? value, ResultColumn column)
        => value?.ToString(column.Format, CultureInfo.InvariantCulture) ?? Missing;

    [GeneratedRegex("[^a-z0-9]+")]
    private static partial Regex Others();
}
