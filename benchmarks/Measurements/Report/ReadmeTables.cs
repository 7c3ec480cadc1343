namespace Measurements.Report;

/// <summary>
/// Writes the tables of the README that come from results. Between <c>&lt;!-- result PROGRAM --&gt;</c> and
/// <c>&lt;!-- end of result --&gt;</c> it puts the first table of that program's newest result and a link to all figures. If there is no
/// result, it leaves the text as it is.
/// </summary>
internal static partial class ReadmeTables
{
    /// <summary>Returns <paramref name="readme"/> with current tables.</summary>
    /// <param name="results">The path from the README to the folder of results.</param>
    public static string Update(string readme, ResultTree tree, string results) => Places().Replace(readme, place =>
    {
        string program = place.Groups["program"].Value;
        StoredResult? newest = tree.Processors.SelectMany(processor => processor.Results)
            .Where(result => result.Document.Program == program && result.IsWhole).MaxBy(result => result.Document.Date);
        if (newest is null)
        {
            return place.Value;
        }

        ResultDocument document = newest.Document;
        return $"{place.Groups["begin"].Value}\n\n{ResultPage.Write(document.Tables[0])}\n"
            + $"{Markdown.Link("All figures", $"{results}/{newest.Stem}.md")}: "
            + $"{Markdown.Text(MachineText.Describe(document.Machine))}, {newest.Date}.\n\n"
            + place.Groups["end"].Value;
    });

    [GeneratedRegex("(?<begin><!-- result (?<program>[^ ]+) -->)\n.*?(?<end><!-- end of result -->)", RegexOptions.Singleline)]
    private static partial Regex Places();
}
