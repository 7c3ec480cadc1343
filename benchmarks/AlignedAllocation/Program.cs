using System;
using System.Collections.Generic;
using System.CommandLine;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using AlignedAllocation.Accuracy;
using AlignedAllocation.Reporting;
using AlignedAllocation.Sweeps;
using AlignedAllocation.Ways;
using Measuring;
using Measuring.Processes;
using Measuring.Results;
using Spectre.Console;

namespace AlignedAllocation;

/// <summary>
/// Checks that every way of allocating aligns as it promises, and times them, twice and as built in Debug and in Release.
/// The program is also the child that it starts for each run of the sweeps.
/// </summary>
internal static class Program
{
    private const int Misaligned = 1;

    private static readonly SweepSettings s_full = new(Samples: 60, TouchedSamples: 50, TouchedTypes: PixelType.All.Count, SampleMilliseconds: 3);
    private static readonly SweepSettings s_quick = new(Samples: 3, TouchedSamples: 1, TouchedTypes: 1, SampleMilliseconds: 0.2);

    private static readonly Option<FileInfo> s_otherBuild = new Option<FileInfo>("--other-build")
    {
        Description = $"This program as built in {BuildConfiguration.OtherName} (AlignedAllocation.dll). Unless given, it is built in the repository.",
    }.AcceptExistingOnly();

    private static async Task<int> Main(string[] arguments)
    {
        if (SweepSettings.TryRead(arguments) is { } child)
        {
            ChildProgram.EndWithParent();
            Console.Out.Write(JsonSerializer.Serialize(SweepChild.Run(child), SweepJson.Default.SweepReport));
            return 0;
        }

        long start = Stopwatch.GetTimestamp();
        int misaligned = 0;
        MeasurementCommand command = new(
            "AlignedAllocation", "Checks the alignment of 200 buffers for each way of allocating, and times allocation and release over image sizes.");
        command.Root.Add(s_otherBuild);
        int code = await command.RunAsync(arguments, (parsed, console) => Measure(command, parsed, console, out misaligned));
        Console.WriteLine(FormattableString.Invariant($"elapsed   {Stopwatch.GetElapsedTime(start).TotalSeconds:0} s"));
        return misaligned > 0 ? Misaligned : code;
    }

    private static ResultDocument Measure(MeasurementCommand command, ParseResult parsed, IAnsiConsole console, out int misaligned)
    {
        bool quick = parsed.GetValue(command.Quick);
        console.WriteLine("checking alignment ...");
        IReadOnlyList<AlignmentResult> checks = CheckAll();
        List<string> failures = [.. checks.SelectMany(check => check.Failures)];
        failures.ForEach(failure => console.MarkupLineInterpolated($"[red]wrong     {failure}[/]"));
        misaligned = failures.Count;

        List<string> notes =
        [
            "Native: NativeMemory.AlignedAlloc(64). Over-allocated: malloc of 72 bytes more, the address rounded up, the heap's own kept in the word below.",
            "Pool, aligned: AllocateAligned(64); up to 1 MiB that is memory from the system each time, as its documentation says. Pool, Allocate: ArrayPool up to 1 MiB, blocks above.",
            $"A sweep allocates and releases one buffer of each of {ImageSizes.Count} image sizes, 24 × 24 to 7680 × 4320, in turn; times are medians, divided by that number.",
        ];
        SweepSettings settings = quick ? s_quick : s_full;
        List<SweepPair> builds = [RunTwice(console, ChildProgram.ThisProgram, settings)];
        MeasureOther(parsed, console, quick, settings with { TouchedTypes = 0 }, builds, notes);
        notes.Add($"{settings.Samples} samples of each untouched time and {settings.TouchedSamples} of each touched one, all ways in turn in each round; run 1 and run 2 are two processes.");

        SweepTables tables = new(builds);
        return command.NewDocument("Aligned allocation: is it aligned, and what does it cost?", parsed) with
        {
            Tables = [AlignmentTable.Create(checks), tables.AsInTheDocument(), tables.OfAllWays(touched: false), tables.OfAllWays(touched: true)],
            Charts = [tables.Chart(touched: false), tables.Chart(touched: true)],
            Notes = notes,
        };
    }

    private static IReadOnlyList<AlignmentResult> CheckAll()
    {
        using AllocationWays ways = new();
        IReadOnlyList<int> sizes = BufferSizes.List();
        return [.. ways.ForChecks().Select(way => AlignmentCheck.Run(way, sizes))];
    }

    private static void MeasureOther(
        ParseResult parsed, IAnsiConsole console, bool quick, SweepSettings settings, List<SweepPair> builds, List<string> notes)
    {
        console.WriteLine($"looking for the {BuildConfiguration.OtherName} build ...");
        string reason = string.Empty;
        string? program = parsed.GetValue(s_otherBuild)?.FullName ?? OtherBuild.TryFind(build: !quick, out reason);
        if (program is null)
        {
            notes.Add($"{BuildConfiguration.OtherName} is missing: {reason}. Name it with {s_otherBuild.Name}.");
            return;
        }

        SweepPair other = RunTwice(console, program, settings);
        builds.Add(other);
        notes.Add("Debug is this program and the library compiled without optimisation; the runtime, its JIT and the system's heap are the same in both builds.");
        foreach (SweepPair build in builds)
        {
            if (build.First.IsOptimized != (build.First.Configuration != "Debug"))
            {
                notes.Add($"The {build.First.Configuration} build is {(build.First.IsOptimized ? "optimised" : "not optimised")}, other than its name says.");
            }
        }
    }

    private static SweepPair RunTwice(IAnsiConsole console, string program, SweepSettings settings)
    {
        List<SweepReport> runs = [];
        for (int run = 1; run <= 2; run++)
        {
            console.WriteLine($"sweeping, run {run} of {Path.GetFileName(Path.GetDirectoryName(program))} ...");
            runs.Add(JsonSerializer.Deserialize(ChildProgram.Run(program, settings.ToArguments()), SweepJson.Default.SweepReport)!);
        }

        return new SweepPair(runs[0], runs[1]);
    }
}
