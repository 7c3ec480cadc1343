using System;
using System.Collections.Generic;
using System.CommandLine;
using System.Diagnostics;
using System.Threading.Tasks;
using Fragmentation.Bursts;
using Fragmentation.Churn;
using Fragmentation.Reporting;
using Fragmentation.Subjects;
using Measuring;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;

namespace Fragmentation;

/// <summary>
/// Fragments the heap on purpose, and looks what the process then occupies, for memory of the heap and of this library.
/// The program is also the child that it starts for each.
/// </summary>
internal static class Program
{
    private const int DefaultIterations = 8000;
    private const int QuickIterations = 100;
    private const int DefaultLimitMegabytes = 1024;
    private const int QuickBlocks = 20;
    private const int QuickLimitMegabytes = 192;

    private static readonly Option<int?> s_iterations = AtLeastOne("--iterations", $"Iterations of each pattern; {DefaultIterations} unless given.");
    private static readonly Option<int?> s_limit = AtLeastOne(
        "--limit-megabytes",
        $"Resident set at which a pattern is ended; {DefaultLimitMegabytes} unless given, and a quarter of the memory where that is less.");
    private static readonly Option<int> s_seed = new("--seed") { Description = "Seed of the sizes and of the order of releases.", DefaultValueFactory = _ => 15526 };

    private static async Task<int> Main(string[] arguments)
    {
        if (ChildCommand.TryRun(arguments))
        {
            return 0;
        }

        long start = Stopwatch.GetTimestamp();
        MeasurementCommand command = new(
            "Fragmentation", "Allocates and releases images of many sizes between small allocations that stay, and shows what the process then occupies.");
        command.Root.Add(s_iterations);
        command.Root.Add(s_limit);
        command.Root.Add(s_seed);
        int code = await command.RunAsync(arguments, (parsed, console) => Measure(command, parsed, console));
        Console.WriteLine(FormattableString.Invariant($"elapsed   {Stopwatch.GetElapsedTime(start).TotalSeconds:0} s"));
        return code;
    }

    private static ResultDocument Measure(MeasurementCommand command, ParseResult parsed, IAnsiConsole console)
    {
        ResultDocument document = command.NewDocument("Fragmentation: what stays resident when images come and go", parsed);
        bool quick = parsed.GetValue(command.Quick);
        int iterations = parsed.GetValue(s_iterations) ?? (quick ? QuickIterations : DefaultIterations);
        long limit = ((long?)parsed.GetValue(s_limit) << 20)
            ?? Math.Min((long)(quick ? QuickLimitMegabytes : DefaultLimitMegabytes) << 20, document.Machine.MemoryBytes / 4);
        List<string> notes =
        [
            "MB are millions of bytes. Each column is a process of its own; start is taken after a warm-up, end with the live images still held. Every page of every image is written to.",
            $"Commit: {ProcessMemory.CommittedMeaning}; its peak is read in every iteration, while the new image and the one that it replaces are both there.",
            "On Linux that counts address space of the pool whose memory went back (MADV_DONTNEED) as well: what is released shows in the resident set.",
            "Raw unaligned: malloc. Raw aligned: NativeMemory.AlignedAlloc(64). Pixels: AllocatePixels of this library with default options. Small allocations: malloc, in all columns.",
        ];

        List<ChurnReport> all = [];
        List<ResultTable> tables = [];
        List<ResultChart> charts = [];
        foreach (ChurnPattern pattern in ChurnPattern.All)
        {
            List<ChurnReport> reports = [];
            foreach (SubjectKind kind in (ReadOnlySpan<SubjectKind>)[SubjectKind.Unaligned, SubjectKind.Aligned, SubjectKind.Discontiguous, SubjectKind.Contiguous])
            {
                console.WriteLine($"{pattern.Name}: {MemorySubject.NameOf(kind)} ...");
                ChurnReport report = ChildCommand.RunChurn(pattern, kind, iterations, limit, parsed.GetValue(s_seed));
                reports.Add(report);
                if (report.Iterations < iterations / pattern.Threads * pattern.Threads)
                {
                    notes.Add(FormattableString.Invariant(
                        $"{pattern.Name}, {MemorySubject.NameOf(kind)}: ended after {report.Iterations} of {iterations} iterations, at {report.End.Resident / 1e6:N0} MB resident with {report.LiveBytes / 1e6:0.0} MB live; the limit was {limit / 1e6:N0} MB."));
                }
            }

            all.AddRange(reports);
            tables.Add(ChurnTable.Create(pattern, reports));
            charts.Add(ChurnTable.Chart(pattern, reports));
        }

        IReadOnlyList<BurstReport> bursts = MeasureBursts(console, quick ? QuickBlocks : BurstRun.DefaultBlocks);
        tables.Add(BurstTable.Create(bursts));
        charts.Add(BurstTable.Chart(bursts));
        notes.Add("Released: ReleaseRetainedResources, and its like in the model. .NET has no such call for the heap: its rows show what returning alone gives back.");
        notes.Add("What this library keeps idle is there for the next image; half of it goes at the end of each trim period, a minute by default, and all of it when asked to.");
        return document with { Tables = [ChurnTable.Summary(all), .. tables], Charts = charts, Notes = notes };
    }

    private static IReadOnlyList<BurstReport> MeasureBursts(IAnsiConsole console, int blocks)
    {
        List<BurstReport> reports = [];
        foreach (SubjectKind kind in (ReadOnlySpan<SubjectKind>)[SubjectKind.Discontiguous, SubjectKind.Classic, SubjectKind.Unaligned, SubjectKind.Aligned])
        {
            console.WriteLine($"bursts: {MemorySubject.NameOf(kind)} ...");
            reports.Add(ChildCommand.RunBurst(kind, blocks));
        }

        return reports;
    }

    private static Option<int?> AtLeastOne(string name, string description) => new Option<int?>(name) { Description = description }.AtLeast(1);
}
