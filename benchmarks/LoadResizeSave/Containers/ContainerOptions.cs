using System;
using System.Collections.Generic;
using System.CommandLine;
using System.IO;
using System.Linq;
using Measuring;
using Measuring.Machines;
using Measuring.Results;

namespace LoadResizeSave.Containers;

/// <summary>Options of the commands that run jobs in containers, and what such commands share.</summary>
internal static class ContainerOptions
{
    /// <summary>The name that stands for all values.</summary>
    public const string All = "all";

    private const string Program = "LoadResizeSave";

    /// <summary>Gets where the pictures lie that are made for jobs in containers.</summary>
    public static string WorkFolder { get; } = Path.GetFullPath(Path.Combine("artifacts", "load-resize-save", "containers"));

    /// <summary>Makes the option that names a folder of photographs.</summary>
    public static Option<string?> Input() => new("--input")
    {
        Description = "Folder of photographs of 8 to 15 megapixels. "
            + "[default: Debian's plasma-workspace-wallpapers, or some that are made]",
    };

    /// <summary>Makes the option that names the folder for results.</summary>
    public static Option<string?> Output() => new("--output")
    {
        Description = "Where the results go. [default: artifacts/results/<processor>]",
    };

    /// <summary>Makes the option that names ways of having memory.</summary>
    public static Option<string[]> Ways(params string[] usual)
        => Names("--ways", "Ways of having memory.", MemoryWay.All.Select(way => way.Name), usual);

    /// <summary>Makes an option that takes some of <paramref name="names"/>, or all of them.</summary>
    public static Option<string[]> Names(string name, string description, IEnumerable<string> names, params string[] usual)
    {
        Option<string[]> option = new(name) { Description = description, DefaultValueFactory = _ => usual };
        option.AllowMultipleArgumentsPerToken = true;
        _ = option.AcceptOnlyFromAmong([All, .. names]);
        return option;
    }

    /// <summary>Makes an option of one number.</summary>
    public static Option<int> Number(string name, string description, int usual, int least = 1)
        => new Option<int>(name) { Description = description, DefaultValueFactory = _ => usual }.AtLeast(least);

    /// <summary>Makes an option of several numbers.</summary>
    public static Option<int[]> Numbers(string name, string description, int[] usual, int least = 1)
    {
        Option<int[]> option = new(name) { Description = description, DefaultValueFactory = _ => usual };
        option.AllowMultipleArgumentsPerToken = true;
        return option.AtLeast(least);
    }

    /// <summary>Makes the option that bounds the time.</summary>
    public static Option<double> Minutes()
    {
        Option<double> option = new("--minutes") { Description = "No run is begun after so many minutes.", DefaultValueFactory = _ => 15 };
        return option.Between(0.1, 600);
    }

    /// <summary>Makes the option that leaves malloc as it is.</summary>
    public static Option<bool> KeepMalloc() => new("--keep-malloc")
    {
        Description = "Do not call NativeHeap.TrySetMapThreshold, as the guides say, where this library does not run by default.",
    };

    /// <summary>Makes the option that asks for a short run.</summary>
    public static Option<bool> Quick() => new("--quick")
    {
        Description = "A few short runs, to see that the program works; the figures are noise.",
    };

    /// <summary>Returns the ways that <paramref name="names"/> stand for.</summary>
    public static IReadOnlyList<MemoryWay> GetWays(string[] names)
        => names.Contains(All) ? MemoryWay.All : [.. names.Distinct().Select(MemoryWay.Get)];

    /// <summary>Returns the folder for results, given or not.</summary>
    public static string GetOutput(string? given)
        => given ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe()));

    /// <summary>Returns what was given, or <paramref name="quickValue"/> in a quick run where nothing was.</summary>
    public static T Get<T>(ParseResult parsed, Option<T> option, bool quick, T quickValue)
        => quick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetValue(option)!;

    /// <summary>Returns how a document about what <paramref name="parsed"/> asked for begins, by its title.</summary>
    public static Func<string, ResultDocument> Documents(ParseResult parsed)
        => title => new MeasurementCommand(Program, "").NewDocument(title, parsed);
}
