namespace Measurements.Report;

/// <summary>
/// The figures that pages quote. A mark before each says where it comes from: <c>&lt;!--= program; label; label; column --&gt;</c>, with
/// as many labels of the row, or beginnings of the table's title, as it takes, and a format behind the column if its own does not serve.
/// <c>machine</c> in place of a column stands for machine, date and commit, up to <c>&lt;!--/--&gt;</c>. A link to a result that has gone
/// leads to the newest one of that name. Whole tables are those of <see cref="ReadmeTables"/>.
/// </summary>
internal static partial class QuotedResults
{
    /// <summary>Returns the pages below <paramref name="root"/> that quote results: the readme and the documentation.</summary>
    public static IEnumerable<string> PagesOf(string root) =>
    [
        Path.Combine(root, "README.md"),
        .. Directory.EnumerateFiles(Path.Combine(root, "docs"), "*.md", SearchOption.AllDirectories).Order(StringComparer.Ordinal),
    ];

    /// <summary>Returns <paramref name="page"/> with the figures of the newest results that have them.</summary>
    public static string Write(string page, ResultTree tree)
    {
        page = ReadmeTables.Update(page, tree, "benchmarks/results");
        page = Links().Replace(page, match => match.Groups["before"] + Folder(match, tree) + match.Groups["after"]);
        page = Machines().Replace(page, match => match.Groups["mark"].Value + Machine(match.Groups["key"].Value, tree));
        return Figures().Replace(page, match => match.Groups["mark"].Value + Figure(match.Groups["key"].Value, tree));
    }

    private static string Figure(string key, ResultTree tree)
    {
        string[] parts = key.Split("; ");
        int colon = parts[^1].LastIndexOf(": ", StringComparison.Ordinal);
        foreach (ResultTable table in Results(parts[0], tree).SelectMany(result => result.Document.Tables))
        {
            // Some names have a colon themselves.
            List<string> names = [.. table.Columns.Select(one => one.Name)];
            int whole = names.IndexOf(parts[^1]);
            int i = whole < 0 && colon > 0 ? names.IndexOf(parts[^1][..colon]) : whole;
            ResultRow? row = i < 0 ? null : table.Rows.FirstOrDefault(row => row.Values[i] is not null && parts[1..^1].All(
                label => row.Labels.Contains(label) || table.Title.StartsWith(label, StringComparison.Ordinal)));
            if (row is not null)
            {
                string format = i == whole ? table.Columns[i].Format : parts[^1][(colon + 2)..];
                return row.Values[i]!.Value.ToString(format, CultureInfo.InvariantCulture);
            }
        }

        throw new InvalidDataException($"A page quotes \"{key}\", and no result has it.");
    }

    private static string Machine(string key, ResultTree tree)
    {
        StoredResult result = Results(key.Split("; ")[0], tree).FirstOrDefault()
            ?? throw new InvalidDataException($"A page quotes \"{key}\", and there is no such result.");
        string commit = result.Document.Commit is { } name ? $", commit {name}" : "";
        return $"{MachineText.Describe(result.Document.Machine)}, {ReportCommand.Date(result)}{commit}";
    }

    // Of a chart or picture the result that it belongs to is the one with the longest name.
    private static string Folder(Match match, ResultTree tree) => tree.Processors
        .SelectMany(processor => processor.Results.Select(result => (Folder: processor.Name, result.Name, result.Document.Date)))
        .Where(result => $"{match.Groups["name"]}-".StartsWith(result.Name + "-", StringComparison.Ordinal))
        .OrderByDescending(result => result.Name.Length)
        .ThenByDescending(result => result.Folder == match.Groups["folder"].Value)
        .ThenByDescending(result => result.Date)
        .Select(result => result.Folder)
        .FirstOrDefault(match.Groups["folder"].Value);

    private static IEnumerable<StoredResult> Results(string name, ResultTree tree) => tree.Processors
        .SelectMany(processor => processor.Results)
        .Where(result => result.Name == name && result.IsWhole)
        .OrderByDescending(result => result.Document.Date);

    [GeneratedRegex(@"(?<before>/results/)(?<folder>[^/)]+)(?<after>/(?<name>[^/)]+)\.(md|svg|json))")]
    private static partial Regex Links();

    [GeneratedRegex(@"(?<mark><!--= (?<key>[^>]+; machine) -->)[^<]*(?=<!--/-->)")]
    private static partial Regex Machines();

    [GeneratedRegex(@"(?<mark><!--= (?<key>(?![^>]*; machine -->)[^>]+) -->)-?\d+(,\d{3})*(\.\d+)?")]
    private static partial Regex Figures();
}
