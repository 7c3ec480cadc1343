namespace Measurements.Report;

/// <summary>Finds what a reader of JSON lets pass: rows of another length than their headings, formats that are none, holes.</summary>
internal static class ResultCheck
{
    /// <exception cref="InvalidDataException">It is damaged; the message says where.</exception>
    public static void Check(ResultDocument document)
    {
        Require(document.Title.Length > 0, "the title is empty");
        RequireAll(document.Notes, "notes");
        RequireAll(document.Tables, "tables");
        RequireAll(document.Charts, "charts");
        RequireAll(document.Pictures, "pictures");
        foreach (ResultTable table in document.Tables)
        {
            Check(table);
        }

        foreach (ResultChart chart in document.Charts)
        {
            RequireAll(chart.Series, $"series of the chart \"{chart.Title}\"");
            RequireAll(chart.Categories, $"names of the chart \"{chart.Title}\"");
        }
    }

    private static void Check(ResultTable table)
    {
        RequireAll(table.Labels, $"labels of the table \"{table.Title}\"");
        RequireAll(table.Columns, $"columns of the table \"{table.Title}\"");
        RequireAll(table.Rows, $"rows of the table \"{table.Title}\"");
        foreach (ResultColumn column in table.Columns)
        {
            Require(IsFormat(column.Format), $"\"{column.Format}\", in the table \"{table.Title}\", is no format of a number");
        }

        for (int i = 0; i < table.Rows.Count; i++)
        {
            ResultRow row = table.Rows[i];
            Require(
                row.Labels.Count == table.Labels.Count && row.Values.Count == table.Columns.Count,
                $"row {i + 1} of the table \"{table.Title}\" has {row.Labels.Count} labels and {row.Values.Count} values for "
                    + $"{table.Labels.Count} and {table.Columns.Count} headings");
        }
    }

    private static bool IsFormat(string format)
    {
        try
        {
            _ = 1.5.ToString(format, CultureInfo.InvariantCulture);
            return true;
        }
        catch (FormatException)
        {
            return false;
        }
    }

    private static void RequireAll<T>(IReadOnlyList<T> items, string name)
        where T : class
        => Require(items.All(item => item is not null), $"one of the {name} is missing");

    private static void Require(bool condition, string damage)
    {
        if (!condition)
        {
            throw new InvalidDataException(damage + ".");
        }
    }
}
