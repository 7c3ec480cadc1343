using System.CommandLine.Parsing;

namespace Measuring;

/// <summary>One measurement, as it was asked for on the command line.</summary>
public sealed class MeasurementRun(string program, ParseResult parsed, bool isQuick, string folder, IAnsiConsole console)
{
    public ParseResult Parsed => parsed;

    public bool IsQuick => isQuick;

    /// <summary>Gets the folder that the result file goes to, with the pictures that lie beside it.</summary>
    public string Folder => folder;

    public IAnsiConsole Console => console;

    /// <summary>Gets what was found that must not be so: it is printed, and the exit code tells.</summary>
    public IList<string> Failures { get; } = [];

    /// <summary>Starts a document about a run of a program; the project is the folder below <c>benchmarks</c>.</summary>
    public static ResultDocument NewDocument(string program, string title, ParseResult parsed)
    {
        string command = $"dotnet run -c Release --project benchmarks/{parsed.RootCommandResult.Command.Name} --";
        return new ResultDocument
        {
            Program = program,
            Title = title,
            Command = string.Join(' ', parsed.Tokens.Select(token => token.Value).Prepend(command)).TrimEnd(' ', '-'),
            Date = DateTimeOffset.UtcNow,
            Machine = ThisMachine.Describe(),
            Commit = ThisCommit.Name,
            Tables = [],
        };
    }

    public ResultDocument NewDocument(string title) => NewDocument(program, title, parsed);

    public T Get<T>(Option<T> option) => parsed.GetValue(option)!;

    /// <summary>Returns what was given, or <paramref name="quickValue"/> in a quick run where nothing was.</summary>
    public T Get<T>(Option<T> option, T quickValue)
        => isQuick && !IsGiven(option) ? quickValue : parsed.GetValue(option)!;

    /// <summary>Returns whether the option was on the command line.</summary>
    public bool IsGiven(Option option) => parsed.GetResult(option) is { Implicit: false };
}

/// <summary>The options that all measurements share, and what becomes of their results: measured, printed, saved.</summary>
public static class MeasurementCommand
{
    /// <summary>Gets the folder of results of a machine like this one.</summary>
    public static string UsualFolder => Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe()));

    /// <summary>
    /// Has <paramref name="command"/> measure, print and save a document under the name <paramref name="program"/>; null where there was
    /// nothing to measure.
    /// </summary>
    public static TCommand Measures<TCommand>(
        this TCommand command, string program, Func<MeasurementRun, CancellationToken, Task<ResultDocument?>> measure)
        where TCommand : Command
    {
        Option<bool> quick = new("--quick") { Description = "Run briefly, to see that the program works; the figures are noise." };
        Option<DirectoryInfo?> output = new("--output")
        {
            Description = "Where the result file goes; artifacts/results/<processor> unless given.",
        };
        command.Add(quick);
        command.Add(output);
        command.SetAction(async (parsed, cancellationToken) =>
        {
            string folder = parsed.GetValue(output)?.FullName ?? UsualFolder;
            Stopwatch clock = Stopwatch.StartNew();

            // Read now: what is committed meanwhile is not measured.
            _ = ThisCommit.Name;
            MeasurementRun run = new(program, parsed, parsed.GetValue(quick), folder, ResultConsole.Create());
            ResultDocument? document = null;
            try
            {
                // Found now, and not after hours: that the result cannot be saved.
                _ = Directory.CreateDirectory(folder);
                File.Create(Path.Combine(folder, $".{program}.writable"), bufferSize: 1, FileOptions.DeleteOnClose).Dispose();
                document = await measure(run, cancellationToken);
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ChildFailedException
                or CgroupUnavailableException)
            {
                run.Failures.Add(exception.Message);
            }

            if (document is not null)
            {
                document = document with { Minutes = Math.Round(clock.Elapsed.TotalMinutes, 1), Failures = [.. run.Failures] };
                ResultConsole.Write(run.Console, document);
                run.Console.WriteLine($"results   {ResultFile.Save(document, folder)}");
            }

            foreach (string failure in run.Failures)
            {
                run.Console.MarkupLineInterpolated($"[red]{failure}[/]");
            }

            return run.Failures.Count == 0 ? 0 : 1;
        });
        return command;
    }

    /// <summary>As above, for a measurement that does not wait.</summary>
    public static TCommand Measures<TCommand>(this TCommand command, string program, Func<MeasurementRun, ResultDocument?> measure)
        where TCommand : Command
        => command.Measures(program, (run, _) => Task.FromResult(measure(run)));

    public static TOption AtLeast<TOption>(this TOption option, double least)
        where TOption : Option => option.Between(least, double.PositiveInfinity);

    /// <summary>Refuses values that are out of range, with an error that names the value and the limits.</summary>
    public static TOption Between<TOption>(this TOption option, double least, double most)
        where TOption : Option
    {
        string range = double.IsFinite(most)
            ? Invariant($"from {least} to {most}")
            : Invariant($"at least {least}");
        option.Validators.Add(result =>
        {
            // What is no number the parser refuses itself.
            foreach (Token token in result.Tokens)
            {
                if (double.TryParse(token.Value, CultureInfo.InvariantCulture, out double value) && !(value >= least && value <= most))
                {
                    result.AddError($"{option.Name} is {token.Value}; it must be {range}.");
                }
            }
        });
        return option;
    }
}
