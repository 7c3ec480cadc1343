namespace Measurements.Instructions;

/// <summary>A loop of the sample.</summary>
/// <param name="Baseline">The loop that it is compared with; itself where it is one.</param>
/// <param name="MostInstructions">
/// What <c>--check</c> lets it take: the count when it was last looked at, and a quarter of it for other compilers.
/// </param>
internal sealed record Operation(string Name, string Title, string Baseline, int Repetitions, int MostInstructions);

/// <summary>Counts instructions, which are the same whatever else a machine does.</summary>
internal static class InstructionsCommand
{
    private const int WarmUp = 2048;

    // At the program's start and end its threads wait for each other, by some hundred thousand instructions, now more and now fewer. A
    // rent takes hundreds, a row tens.
    private const int Rents = 65_536;
    private const int Rows = 16 * Rents;

    private static readonly Operation[] s_operations =
    [
        new("array-64k", "ArrayPool<byte>.Shared, 64 KB", "array-64k", Rents, 165),
        new("lease-64k", "lease of 64 KB", "array-64k", Rents, 585),
        new("owner-64k", "owner of 64 KB", "array-64k", Rents, 776),
        new("lease-4m", "lease of 4 MB", "array-64k", Rents, 375),
        new("owner-4m", "owner of 4 MB", "array-64k", Rents, 565),
        new("budgeted-lease-4m", "lease of 4 MB under a budget", "array-64k", Rents, 492),
        new("budgeted-lease-64k", "lease of 64 KB under a budget", "array-64k", Rents, 790),
        new("aligned-64k", "owner of 64 KB aligned to 4,096", "array-64k", Rents, 3700),
        new("run-16m", "lease of 16 MB, contiguous", "array-64k", Rents, 745),
        new("pixels-64m", "pixel buffer of 64 MB in 16 blocks", "array-64k", Rents, 1640),
        new("slice", "Slice of an array, first element written", "slice", Rows, 13),
        new("row", "row of a pixel buffer, first pixel written", "slice", Rows, 29),
    ];

    private static readonly Option<bool> s_check = new("--check")
    {
        Description = "Fail where an operation takes more instructions than it should.",
    };

    private static readonly Option<string?> s_program = new("--program")
    {
        Description = "tests/AotSample, published; it is published first unless given.",
    };

    public static Command Create() => new Command(
        "instructions", "Counts the instructions of renting, returning and finding rows, in code compiled ahead of time, with valgrind.")
    {
        s_check, s_program,
    }.Measures("Instructions", Measure);

    private static ResultDocument? Measure(MeasurementRun run)
    {
        try
        {
            using NativeProgram native = NativeProgram.Open(run.Get(s_program));
            Callgrind callgrind = new(native);
            Dictionary<string, IReadOnlyDictionary<string, double>> counts = s_operations.ToDictionary(
                operation => operation.Name, operation => callgrind.Count(operation.Name, WarmUp, operation.Repetitions));
            foreach (Operation operation in run.Get(s_check) ? s_operations : [])
            {
                double instructions = counts[operation.Name].Values.Sum();
                if (instructions > operation.MostInstructions)
                {
                    run.Failures.Add(Invariant($"regression: {operation.Title}: {instructions:0} instructions, ")
                        + Invariant($"at most {operation.MostInstructions} expected"));
                }
            }

            return Describe(run.NewDocument("Instructions of an operation"), counts);
        }
        catch (ChildFailedException exception)
        {
            run.Failures.Add($"{exception.Message} On Debian: apt-get install valgrind binutils clang zlib1g-dev");
            return null;
        }
    }

    private static ResultDocument Describe(ResultDocument document, Dictionary<string, IReadOnlyDictionary<string, double>> counts)
        => document with
        {
            Tables =
        [
            Totals(counts),
            .. s_operations.Where(operation => operation.Baseline != operation.Name).Select(
                operation => Methods(operation, counts[operation.Name])),
        ],
            Notes =
        [
            "Compiled ahead of time and counted by valgrind's callgrind: what 65,536 rents, or a million rows, take more than 2,048 "
                + "do, so that the program's start does not count; on the thread that rents. The just-in-time compiler inlines more.",
        ],
        };

    private static ResultTable Totals(Dictionary<string, IReadOnlyDictionary<string, double>> counts) => new()
    {
        Title = "One operation: rented and returned, or found and written to",
        Labels = ["operation", "compared with"],
        Columns = [new ResultColumn("instructions", null, "0"), new ResultColumn("ratio", null, "0.00")],
        Rows =
        [
            .. s_operations.Select(operation => new ResultRow(
                [operation.Title, s_operations.First(other => other.Name == operation.Baseline).Title],
                [counts[operation.Name].Values.Sum(), counts[operation.Name].Values.Sum() / counts[operation.Baseline].Values.Sum()])),
        ],
    };

    private static ResultTable Methods(Operation operation, IReadOnlyDictionary<string, double> counts) => new()
    {
        Title = $"{operation.Title}, by method",
        Labels = ["method"],
        Columns = [new ResultColumn("instructions", null, "0")],
        Rows =
        [
            .. counts.Where(count => count.Value >= 1).OrderByDescending(count => count.Value).Take(12).Select(
                count => new ResultRow([count.Key], [count.Value])),
        ],
    };
}
