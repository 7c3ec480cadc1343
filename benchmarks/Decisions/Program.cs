using System;
using System.Collections.Generic;
using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using Decisions.Questions;
using Decisions.Trimming;
using Measuring;
using Measuring.Results;
using Spectre.Console;

namespace Decisions;

/// <summary>The entry point: asks the questions that it is told to ask, and saves a document about each.</summary>
internal static class Program
{
    private static Task<int> Main(string[] arguments)
    {
        if (TrimmingChild.TryRun(arguments))
        {
            return Task.FromResult(0);
        }

        IReadOnlyList<Question> all = AllQuestions.Create();
        Option<string[]> asked = new("--question")
        {
            Description = "The question to settle; all of them unless given. May be repeated.",
            DefaultValueFactory = _ => [.. all.Select(question => question.Name)],
        };
        _ = asked.AcceptOnlyFromAmong([.. all.Select(question => question.Name)]);
        MeasurementCommand command = new("Decisions", "Settles by measurement what the source of this design left open.");
        command.Root.Options.Add(asked);
        return command.RunAsync(arguments, (parsed, console) =>
        {
            string[] names = parsed.GetRequiredValue(asked);
            return Ask([.. all.Where(question => names.Contains(question.Name))], command, parsed, console);
        });
    }

    private static IEnumerable<ResultDocument> Ask(
        IReadOnlyList<Question> questions, MeasurementCommand command, ParseResult parsed, IAnsiConsole console)
    {
        Effort effort = new(parsed.GetValue(command.Quick));
        Stopwatch all = Stopwatch.StartNew();
        foreach (Question question in questions)
        {
            Stopwatch watch = Stopwatch.StartNew();
            console.WriteLine();
            console.WriteLine($"asking {question.Name} ...");
            Answer answer = question.Ask(effort);
            yield return command.NewDocument(question.Title, parsed) with
            {
                Program = $"Decisions-{question.Name}",
                Tables = answer.Tables,
                Charts = answer.Charts,
                Notes = answer.Notes,
            };
            console.WriteLine($"took      {Seconds(watch)}");
        }

        console.WriteLine();
        console.WriteLine($"{questions.Count} of {AllQuestions.Create().Count} questions in {Seconds(all)}");
    }

    private static string Seconds(Stopwatch watch) => string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds:0.0} s");
}
