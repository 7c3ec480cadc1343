namespace Measuring.Results;

/// <summary>Shows results in a terminal or a log file.</summary>
public static class ResultConsole
{
    // A table that is cut at 80 columns in a log file cannot be read.
    private const int RedirectedWidth = 160;

    public static IAnsiConsole Create()
    {
        if (!Console.IsOutputRedirected)
        {
            return AnsiConsole.Console;
        }

        IAnsiConsole console = AnsiConsole.Create(
            new AnsiConsoleSettings { Ansi = AnsiSupport.No, ColorSystem = ColorSystemSupport.NoColors });
        console.Profile.Width = RedirectedWidth;
        return console;
    }

    public static void Write(IAnsiConsole console, ResultDocument document)
    {
        MachineDescription machine = document.Machine;
        console.MarkupLineInterpolated($"[bold]{document.Title}[/]");
        console.MarkupLineInterpolated(
            $"[grey]{machine.Processor}, {machine.Cores} cores, {machine.OperatingSystem}, {machine.Runtime}[/]");
        foreach (ResultTable table in document.Tables)
        {
            console.WriteLine();
            console.MarkupLineInterpolated($"[bold]{table.Title}[/]");
            console.Write(CreateTable(table));
        }

        foreach (string note in document.Notes)
        {
            console.MarkupLineInterpolated($"[grey]{note}[/]");
        }
    }

    private static Table CreateTable(ResultTable result)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        foreach (string label in result.Labels)
        {
            _ = table.AddColumn(Markup.Escape(label));
        }

        foreach (ResultColumn column in result.Columns)
        {
            _ = table.AddColumn(
                new TableColumn(Markup.Escape(column.Unit is null ? column.Name : $"{column.Name}\n{column.Unit}")).RightAligned());
        }

        foreach (ResultRow row in result.Rows)
        {
            IEnumerable<string> values = row.Values.Zip(
                result.Columns, (value, column) => value?.ToString(column.Format, CultureInfo.InvariantCulture) ?? "-");
            _ = table.AddRow([.. row.Labels.Concat(values).Select(Markup.Escape)]);
        }

        return table;
    }
}
