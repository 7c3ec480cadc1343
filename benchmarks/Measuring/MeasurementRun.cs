using System;
using System.CommandLine;
using System.Linq;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;

namespace Measuring;

/// <summary>One measurement, as it was asked for on the command line.</summary>
public sealed class MeasurementRun(string program, ParseResult parsed, bool isQuick, IAnsiConsole console)
{
    public ParseResult Parsed => parsed;

    public bool IsQuick => isQuick;

    public IAnsiConsole Console => console;

    /// <summary>Gets or sets a value indicating whether something was found that the exit code is to tell.</summary>
    public bool HasFailed { get; set; }

    /// <summary>Starts a document; <paramref name="project"/> is the folder of the program below <c>benchmarks</c>.</summary>
    public static ResultDocument NewDocument(string program, string project, string title, ParseResult parsed)
    {
        string command = $"dotnet run -c Release --project benchmarks/{project} --";
        return new ResultDocument
        {
            Program = program,
            Title = title,
            Command = string.Join(' ', parsed.Tokens.Select(token => token.Value).Prepend(command)).TrimEnd(' ', '-'),
            Date = DateTimeOffset.UtcNow,
            Machine = ThisMachine.Describe(),
            Tables = [],
        };
    }

    /// <summary>Starts a document about this run; the tables are the program's to add.</summary>
    public ResultDocument NewDocument(string title) => NewDocument(program, parsed.RootCommandResult.Command.Name, title, parsed);

    public T Get<T>(Option<T> option) => parsed.GetValue(option)!;

    /// <summary>Returns what was given, or <paramref name="quickValue"/> in a quick run where nothing was.</summary>
    public T Get<T>(Option<T> option, T quickValue)
        => isQuick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetValue(option)!;
}
