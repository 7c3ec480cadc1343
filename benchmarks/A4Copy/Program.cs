using System;
using System.CommandLine;
using System.Diagnostics;
using System.Threading.Tasks;
using A4Copy.Buffers;
using A4Copy.Children;
using A4Copy.Reporting;
using A4Copy.Trials;
using Measuring;
using Measuring.Results;
using Spectre.Console;

namespace A4Copy;

/// <summary>The entry point: the same program is the parent that the user starts and the child that it starts for each kind of memory.</summary>
internal static class Program
{
    private const int MostTrials = 100_000;
    private const int DefaultTrials = 500;
    private const int QuickTrials = 2;

    // Without page faults trials differ less, and fewer are enough.
    private const int TrialsPerWarmTrial = 25;

    private static readonly Option<int> s_trials = CreateTrials();

    private static Task<int> Main(string[] arguments)
    {
        if (arguments is [BenchProcess.Argument, string kind])
        {
            BenchProcess.Work(Enum.Parse<MemoryKind>(kind), Console.In, Console.Out);
            return Task.FromResult(0);
        }

        MeasurementCommand command = new("A4Copy", "Allocates memory for an A4 page at 300 dpi and copies it in several ways, from five kinds of unmanaged memory.");
        command.Root.Options.Add(s_trials);
        return command.RunAsync(arguments, (parsed, console) =>
        {
            bool isGiven = parsed.GetResult(s_trials) is { Implicit: false };
            int trials = parsed.GetValue(command.Quick) && !isGiven ? QuickTrials : parsed.GetRequiredValue(s_trials);
            return Measure(console, command.NewDocument("A4Copy: copying a page between buffers of five kinds of memory", parsed), trials);
        });
    }

    private static ResultDocument Measure(IAnsiConsole console, ResultDocument document, int trials)
    {
        long start = Stopwatch.GetTimestamp();
        int warmTrials = Math.Max(1, trials / TrialsPerWarmTrial);
        (TrialTable fresh, TrialTable warm) = CreateProgress(console).Start(progress =>
        {
            ProgressTask freshTask = progress.AddTask("allocate, copy, free", maxValue: trials);
            ProgressTask warmTask = progress.AddTask("copy alone", autoStart: false, maxValue: warmTrials);
            using TrialSchedule schedule = new();
            TrialTable fresh = schedule.RunFresh(trials, done => freshTask.Value(done));
            warmTask.StartTask();
            return (fresh, schedule.RunWarm(warmTrials, done => warmTask.Value(done)));
        });
        return Report.Create(document, fresh, warm, Stopwatch.GetElapsedTime(start));
    }

    private static Progress CreateProgress(IAnsiConsole console) => console.Progress()
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn());

    private static Option<int> CreateTrials() => new Option<int>("--trials")
    {
        Description = $"How many trials each mean is over; a {TrialsPerWarmTrial}th of it for copies alone.",
        DefaultValueFactory = _ => DefaultTrials,
    }.Between(1, MostTrials);
}
