using System.Collections.Generic;
using System.IO;
using System.Linq;
using Report.Pages;
using Report.Reading;
using Spectre.Console;

namespace Report;

/// <summary>Reads all results, makes all pages, and only then writes them: a damaged file leaves everything as it was.</summary>
internal sealed class ReportCommand
{
    private readonly string _folder;
    private readonly IAnsiConsole _console;

    /// <summary>Prepares the report of the results below <paramref name="folder"/>.</summary>
    public ReportCommand(string folder, IAnsiConsole console)
    {
        _folder = folder;
        _console = console;
    }

    /// <summary>Makes the report; returns the exit code.</summary>
    public int Run()
    {
        if (!Directory.Exists(_folder))
        {
            _console.MarkupLineInterpolated($"[red]There is no folder {_folder}.[/]");
            return 1;
        }

        ResultTree tree = ResultTree.Read(_folder);
        PageSet pages = new(_folder);
        List<string> damages = [.. tree.Damages];

        // The indexes first: a result that is called as they are is told so.
        IndexPages.AddTo(pages, tree);
        foreach (StoredResult result in tree.Processors.SelectMany(processor => processor.Results))
        {
            try
            {
                ResultPage.AddTo(pages, result);
            }
            catch (InvalidDataException exception)
            {
                damages.Add($"{result.Path}: {exception.Message}");
            }
        }

        foreach (string word in tree.Skipped)
        {
            _console.MarkupLineInterpolated($"[grey]skipped {word}[/]");
        }

        if (damages.Count > 0)
        {
            foreach (string damage in damages)
            {
                _console.MarkupLineInterpolated($"[red]{damage}[/]");
            }

            _console.MarkupLine("[red]nothing was written[/]");
            return 1;
        }

        foreach (string path in pages.Write())
        {
            _console.WriteLine($"wrote   {path}");
        }

        foreach (string path in pages.FindStrangers(tree))
        {
            _console.MarkupLineInterpolated($"[yellow]{path} belongs to no result: an earlier name of a chart or a program?[/]");
        }

        return 0;
    }
}
