namespace Measurements.Report;

/// <summary>
/// The tables of the README that are made from results: what stands between <c>&lt;!-- result PROGRAM --&gt;</c> and
/// <c>&lt;!-- end of result --&gt;</c> is the first table of that program's newest result, its last note, and where all of it is. As long
/// as there is no result, nothing is put there.
/// </summary>
internal static partial class ReadmeTables
{
    /// <summary>Returns <paramref name="readme"/> with the tables of now.</summary>
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
            + $"{Markdown.Text(document.Notes.LastOrDefault() ?? "")} "
            + $"{Markdown.Link("All of it", $"{results}/{newest.Stem}.md")}: "
            + $"{Markdown.Text(MachineText.Describe(document.Machine))}, {newest.Date}.\n\n"
            + place.Groups["end"].Value;
    });

    [GeneratedRegex("(?<begin><!-- result (?<program>[^ ]+) -->)\n.*?(?<end><!-- end of result -->)", RegexOptions.Singleline)]
    private static partial Regex Places();
}
