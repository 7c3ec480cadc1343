using System.Text;
using Measuring.Charts;

namespace Measurements.Report;

/// <summary>The page about one result, and its charts.</summary>
internal static class ResultPage
{
    private const string Missing = "–";

    /// <exception cref="InvalidDataException">A chart cannot be drawn, a picture is missing, or a name is taken.</exception>
    public static void AddTo(PageSet pages, StoredResult result)
    {
        ResultDocument document = result.Document;
        List<(string Title, string Name)> pictures = [];
        foreach (ResultPicture picture in document.Pictures)
        {
            pictures.Add(pages.Exists(result.Beside(picture.File))
                ? (picture.Title, picture.File)
                : throw new InvalidDataException($"the picture {picture.File}, which the program drew itself, does not lie beside it."));
        }

        IReadOnlyList<string> names = ChartNames(result);
        for (int i = 0; i < document.Charts.Count; i++)
        {
            if (document.Pictures.Any(picture => picture.File == names[i]))
            {
                throw new InvalidDataException($"the chart \"{document.Charts[i].Title}\" would overwrite the picture {names[i]}.");
            }

            pages.Add(result.Beside(names[i]), ChartPicture.Draw(document.Charts[i]));
            pictures.Add((document.Charts[i].Title, names[i]));
        }

        pages.Add(result.Stem + ".md", Write(result, pictures));
    }

    private static string Write(StoredResult result, List<(string Title, string Name)> pictures)
    {
        ResultDocument document = result.Document;
        StringBuilder page = new();
        _ = page.Append(CultureInfo.InvariantCulture, $"# {Markdown.Text(document.Title)}\n\n")
            .Append(CultureInfo.InvariantCulture, $"<!-- Made by benchmarks/Report from {result.Name}.json: changes here are lost. -->\n\n")
            .Append(Markdown.Table(["", ""], 0, Facts(result)));
        foreach (ResultTable table in document.Tables)
        {
            _ = page.Append(CultureInfo.InvariantCulture, $"\n## {Markdown.Text(table.Title)}\n\n").Append(Write(table));
        }

        if (document.Notes.Count > 0)
        {
            _ = page.Append("\n## Notes\n\n");
            foreach (string note in document.Notes)
            {
                _ = page.Append(CultureInfo.InvariantCulture, $"- {Markdown.Text(note)}\n");
            }
        }

        foreach ((string title, string name) in pictures)
        {
            _ = page.Append(CultureInfo.InvariantCulture, $"\n## {Markdown.Text(title)}\n\n{Markdown.Picture(title, name)}\n");
        }

        return page.ToString();
    }

    private static IEnumerable<IEnumerable<string>> Facts(StoredResult result)
    {
        MachineDescription machine = result.Document.Machine;
        string hugePages = machine.HugePages is null ? "none" : machine.HugePages;
        return
        [
            ["program", Markdown.Text(result.Document.Program)],
            ["command", Markdown.Code(result.Document.Command)],
            ["date", result.Document.Date.UtcDateTime.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)],
            ["machine", Markdown.Text(MachineText.Describe(machine))],
            ["pages", Markdown.Text(FormattableString.Invariant($"{machine.PageSize:N0} bytes; transparent huge pages: {hugePages}"))],
            ["data", Markdown.Link(result.Name + ".json", result.Name + ".json")],
        ];
    }

    private static string Write(ResultTable table)
    {
        IEnumerable<string> columns = table.Columns.Select(column => column.Unit is null ? column.Name : $"{column.Name}, {column.Unit}");
        return Markdown.Table(
            [.. table.Labels.Concat(columns).Select(Markdown.Text)],
            table.Columns.Count,
            table.Rows.Select(row => row.Labels.Concat(row.Values.Zip(table.Columns, Write)).Select(Markdown.Text)));
    }

    private static string Write(double? value, ResultColumn column)
        => value?.ToString(column.Format, CultureInfo.InvariantCulture) ?? Missing;

    // A single chart is called as its result; of several, each has its title in the name, and a number where titles are alike.
    private static IReadOnlyList<string> ChartNames(StoredResult result)
    {
        IReadOnlyList<ResultChart> charts = result.Document.Charts;
        if (charts.Count == 1)
        {
            return [result.Name + ".svg"];
        }

        List<string> names = [];
        foreach (string slug in charts.Select(chart => FileName.Slug(chart.Title)))
        {
            string name = $"{result.Name}-{slug}.svg";
            for (int i = 2; names.Contains(name); i++)
            {
                name = string.Create(CultureInfo.InvariantCulture, $"{result.Name}-{slug}-{i}.svg");
            }

            names.Add(name);
        }

        return names;
    }
}
