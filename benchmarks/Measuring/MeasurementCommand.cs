using System;
using System.CommandLine;
using System.IO;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;

namespace Measuring;

/// <summary>The options that all measurements share, and what becomes of their results: measured, printed, saved.</summary>
public static class MeasurementCommand
{
    private const int Failed = 1;

    /// <summary>
    /// Has <paramref name="command"/> measure, print and save a document under the name <paramref name="program"/>. null where there was
    /// nothing
    /// to measure.
    /// </summary>
    public static TCommand Measures<TCommand>(this TCommand command, string program, Func<MeasurementRun, ResultDocument?> measure)
        where TCommand : Command
    {
        Option<bool> quick = new("--quick") { Description = "Run briefly, to see that the program works; the figures are noise." };
        Option<DirectoryInfo?> output = new("--output")
        {
            Description = "Where the result file goes; artifacts/results/<processor> unless given.",
        };
        command.Add(quick);
        command.Add(output);
        command.SetAction(parsed =>
        {
            MeasurementRun run = new(program, parsed, parsed.GetValue(quick), ResultConsole.Create());
            if (measure(run) is { } document)
            {
                ResultConsole.Write(run.Console, document);
                string folder = parsed.GetValue(output)?.FullName
                    ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(document.Machine));
                run.Console.WriteLine($"results   {ResultFile.Save(document, folder)}");
            }

            return run.HasFailed ? Failed : 0;
        });
        return command;
    }
}
