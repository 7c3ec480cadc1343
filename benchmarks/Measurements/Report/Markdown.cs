namespace Measurements.Report;

/// <summary>Writes Markdown, in which some characters of a text mean something else.</summary>
internal static class Markdown
{
    /// <summary>Returns <paramref name="text"/> as plain text on one line; what stands between backticks stays code.</summary>
    public static string Text(string text)
    {
        string[] parts = OneLine(text).Split('`');

        // An odd number of backticks is no code but a slip.
        return parts.Length % 2 == 0
            ? string.Join("\\`", parts.Select(Escape))
            : string.Concat(parts.Select((part, i) => i % 2 == 0 ? Escape(part) : Code(part)));
    }

    public static string Code(string text)
    {
        string code = OneLine(text).Replace("|", "\\|", StringComparison.Ordinal);
        return code.Length == 0 ? "" : code.Contains('`', StringComparison.Ordinal) ? $"`` {code} ``" : $"`{code}`";
    }

    public static string Link(string text, string path) => $"[{Text(text)}]({Address(path)})";

    public static string Picture(string text, string path) => $"![{Text(text)}]({Address(path)})";

    /// <summary>
    /// Returns a table. Headings and cells are Markdown already; the last <paramref name="numbers"/> columns are aligned to the right.
    /// </summary>
    public static string Table(IReadOnlyList<string> headings, int numbers, IEnumerable<IEnumerable<string>> rows)
    {
        StringBuilder table = new();
        AppendRow(headings);
        AppendRow(headings.Select((_, i) => i < headings.Count - numbers ? "---" : "---:"));
        foreach (IEnumerable<string> row in rows)
        {
            AppendRow(row);
        }

        return table.ToString();

        void AppendRow(IEnumerable<string> cells) => table.Append("| ").AppendJoin(" | ", cells).Append(" |\n");
    }

    private static string Escape(string text)
    {
        StringBuilder escaped = new(text.Length);
        foreach (char character in text)
        {
            _ = character switch
            {
                '<' => escaped.Append("&lt;"),
                '>' => escaped.Append("&gt;"),
                '&' => escaped.Append("&amp;"),
                '\\' or '*' or '_' or '[' or ']' or '|' or '#' or '~' or '$' => escaped.Append('\\').Append(character),
                _ => escaped.Append(character),
            };
        }

        return escaped.ToString();
    }

    private static string OneLine(string text) => text.ReplaceLineEndings(" ").Trim();

    private static string Address(string path) => string.Join('/', path.Split('/').Select(Uri.EscapeDataString));
}
