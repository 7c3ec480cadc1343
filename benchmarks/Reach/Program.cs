using System;
using System.Collections.Generic;
using System.CommandLine;
using System.Linq;
using System.Threading.Tasks;
using Measuring;
using Measuring.Results;
using Reach.Figures;

namespace Reach;

/// <summary>Measures what the project set out to reach, as ratios within one run, and says how far it came.</summary>
internal static class Program
{
    private const int Looks = 3;

    private static async Task<int> Main(string[] arguments)
    {
        Option<bool> check = new("--check") { Description = "Fail where a figure is so far from its limit that it cannot be noise." };
        MeasurementCommand command = new("Reach", "Measures each figure that the project set out to reach, against what it is compared with.");
        command.Root.Add(check);
        bool failed = false;
        int exitCode = await command.RunAsync(arguments, (parsed, _) =>
        {
            ResultDocument document = command.NewDocument("What was to be reached, and what was", parsed);
            Effort effort = parsed.GetValue(command.Quick) ? Effort.Brief : Effort.Full;
            bool hasHugePages = document.Machine.HugePages is "always" or "madvise";
            bool isChecked = parsed.GetValue(check);
            Func<IEnumerable<Figure>>[] measurements =
            [
                () => SingleBlock.Measure(effort),
                () => Contention.Measure(effort),
                () => Lease.Measure(effort),
                () => SmallRequest.Measure(effort),
                () => PixelGroup.Measure(effort),
                () => RowAccess.Measure(effort),
                () => Contiguous.Measure(effort),
                () => FirstTouch.Measure(effort, hasHugePages),
            ];
            IReadOnlyList<Figure> figures = [.. measurements.SelectMany(measure => isChecked ? MeasureForCheck(measure) : [.. measure()])];
            failed = isChecked && figures.Any(figure => figure.IsRegression);
            return document with { Tables = [Table(figures), RentSteps.Measure(effort)] };
        });
        return failed ? 1 : exitCode;
    }

    // What a neighbour did to the machine is gone at the second or third look; what the library does to itself is not.
    private static IReadOnlyList<Figure> MeasureForCheck(Func<IEnumerable<Figure>> measure)
    {
        for (int look = 1; ; look++)
        {
            Figure[] figures = [.. measure()];
            foreach (Figure figure in figures.Where(figure => figure.IsRegression))
            {
                Console.WriteLine(FormattableString.Invariant(
                    $"look {look} of {Looks}: regression: {figure.What}: {figure.Measured:0.##}, wanted {figure.Wanted}, margin {figure.Margin}"));
            }

            if (look == Looks || !figures.Any(figure => figure.IsRegression))
            {
                return figures;
            }
        }
    }

    private static ResultTable Table(IReadOnlyList<Figure> figures) => new()
    {
        Title = "Medians over rounds in which all that is compared runs in turn",
        Labels = ["what", "against, or unit", "wanted", "verdict"],
        Columns = [new ResultColumn("measured", null, "0.##")],
        Rows = [.. figures.Select(figure => new ResultRow([figure.What, figure.Against, figure.Wanted, figure.Verdict], [figure.Measured]))],
    };
}
