using System;
using System.Collections.Generic;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;

namespace Measuring;

/// <summary>The command line that all measurement programs share: measure, print, save.</summary>
public sealed class MeasurementCommand
{
    private readonly string _program;

    /// <summary>Names the program, as its project and its result file are called, and says what it measures.</summary>
    public MeasurementCommand(string program, string description)
    {
        _program = program;
        Root = new RootCommand(description) { Quick, Output };
    }

    /// <summary>Gets the command, to which a program adds options of its own.</summary>
    public RootCommand Root { get; }

    /// <summary>Gets the option that asks for a short run: it shows that the program works, its figures are for nothing else.</summary>
    public Option<bool> Quick { get; } = new("--quick") { Description = "Run briefly, to see that the program works; the figures are noise." };

    /// <summary>Gets the option that names the folder for the result file.</summary>
    public Option<DirectoryInfo?> Output { get; } = new("--output")
    {
        Description = "Where the result file goes; artifacts/results/<processor> unless given.",
    };

    /// <summary>
    /// Reads <paramref name="arguments"/>, calls <paramref name="measure"/>, prints what it found and saves it, and returns the process's exit code.
    /// <paramref name="measure"/> need not fill in the machine, the date and the command: <see cref="NewDocument"/> does.
    /// </summary>
    public Task<int> RunAsync(string[] arguments, Func<ParseResult, IAnsiConsole, ResultDocument> measure)
    {
        IEnumerable<ResultDocument> MeasureOne(ParseResult parsed, IAnsiConsole console) => [measure(parsed, console)];
        return RunAsync(arguments, MeasureOne);
    }

    /// <summary>
    /// The same for a program that measures several things: each document is printed and saved as soon as it is there, under its
    /// <see cref="ResultDocument.Program"/>.
    /// </summary>
    public Task<int> RunAsync(string[] arguments, Func<ParseResult, IAnsiConsole, IEnumerable<ResultDocument>> measure)
    {
        Root.SetAction(parsed =>
        {
            IAnsiConsole console = ResultConsole.Create();
            foreach (ResultDocument document in measure(parsed, console))
            {
                ResultConsole.Write(console, document);
                string folder = parsed.GetValue(Output)?.FullName
                    ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(document.Machine));
                console.WriteLine($"results   {ResultFile.Save(document, folder)}");
            }

            return 0;
        });
        return Root.Parse(arguments).InvokeAsync();
    }

    /// <summary>Starts a document about this run; the tables are the program's to add.</summary>
    public ResultDocument NewDocument(string title, ParseResult parsed) => new()
    {
        Program = _program,
        Title = title,
        Command = string.Join(' ', parsed.Tokens.Select(token => token.Value).Prepend($"dotnet run -c Release --project benchmarks/{_program} --")).TrimEnd(' ', '-'),
        Date = DateTimeOffset.UtcNow,
        Machine = ThisMachine.Describe(),
        Tables = [],
    };
}
