using System.CommandLine.Parsing;

namespace LoadResizeSave.Running;

/// <summary>The options of the program, and the way from a command line to <see cref="JobOptions"/> and, for the children, back.</summary>
internal sealed class CommandLine
{
    private const string All = "all";
    private const string Name = "LoadResizeSave";

    private static readonly string s_work = Path.Combine("artifacts", "load-resize-save");

    private static readonly string[] s_allocatorNames = [.. Enum.GetNames<AllocatorKind>().Select(name => name.ToLowerInvariant())];

    private readonly Option<string?> _input = new("--input", "-i") { Description = "Folder of pictures, searched with its subfolders. Without it a set of large synthetic photographs is made first." };
    private readonly Option<string?> _output = new("--output", "-o") { Description = $"Folder for results and the chart. [default: {s_work}; with several runs artifacts/results/<processor>]" };
    private readonly Option<string?> _work = new("--work") { Description = $"Folder for the photographs that are made, and for what is saved. [default: the output folder; with several runs {s_work}]" };
    private readonly Option<string?> _chart = new("--chart") { Description = "Where the chart goes. [default: memory.svg in the output folder; with several runs it lies beside the results]" };
    private readonly Option<int> _runs = AtLeastOne("--runs", "Runs of each allocator. With more than one they take turns, and the result are medians.", 1);
    private readonly Option<string[]> _allocator = new("--allocator", "-a") { Description = "Allocators to compare.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => [All] };
    private readonly Option<int[]> _parallelism = Several("--parallelism", "Pictures worked on at once; with --memory-limit one or more such numbers.", [Environment.ProcessorCount], least: 1, "-p");
    private readonly Option<int[]> _memoryLimit = Several("--memory-limit", "Runs the job in a memory cgroup of so many MiB, in each of those named, and without a limit beside them.", [], least: 64);
    private readonly Option<int?> _budget = new Option<int?>("--budget") { Description = "MiB that the allocator named budget may hold. [default: what a memory limit leaves]" }.AtLeast(1);
    private readonly Option<int> _repeat = AtLeastOne("--repeat", "How often the folder is gone through.", 3, "-r");
    private readonly Option<int> _width = AtLeastOne("--width", "Width of the saved pictures; narrower ones keep theirs.", 800, "-w");
    private readonly Option<int> _maximumMegapixels = AtLeastOne("--max-megapixels", "Pictures whose header claims more are refused before their pixels are allocated.", 256);
    private readonly Option<double> _trimPeriod = new Option<double>("--trim-period") { Description = "Seconds between two looks of the pool at its idle memory.", DefaultValueFactory = _ => 1 }.Between(0.05, 3600);
    private readonly Option<int> _count = AtLeastOne("--count", "Synthetic photographs to make.", 10);
    private readonly Option<double?> _megapixels = new Option<double?>("--megapixels") { Description = "Size of each synthetic photograph, in millions of pixels. [default: sizes of cameras and screens, 12 to 24]" }.Between(0.01, 500);
    private readonly Option<bool> _quick = new("--quick") { Description = "A small set and short periods: done in seconds, to see that everything works." };
    private readonly Option<bool> _noLibjpeg = new("--no-libjpeg") { Description = "Do not use libjpeg-turbo, as if the system had none." };
    private readonly Option<bool> _noIdle = new("--no-idle") { Hidden = true };
    private readonly Option<bool> _child = new("--child") { Hidden = true };

    public CommandLine()
    {
        _allocator.AcceptOnlyFromAmong([All, .. s_allocatorNames]);
        Root = new RootCommand("Loads a folder of pictures, resizes and saves them, once for each allocator in a process of its own, "
            + "and compares time and memory.")
        {
            _input, _output, _work, _chart, _allocator, _runs, _parallelism, _memoryLimit, _budget, _repeat, _width, _maximumMegapixels,
            _trimPeriod, _count, _megapixels, _quick, _noLibjpeg, _noIdle, _child,
        };
        Root.Validators.Add(CheckTogether);
    }

    public RootCommand Root { get; }

    public JobOptions Read(IReadOnlyList<string> arguments) => Read(Root.Parse(arguments));

    public JobOptions Read(ParseResult result)
    {
        bool quick = result.GetValue(_quick);
        int runs = result.GetValue(_runs);
        int[] limits = result.GetRequiredValue(_memoryLimit);
        bool isSingle = runs == 1 && limits.Length == 0;
        string? givenOutput = result.GetValue(_output);
        string output = Path.GetFullPath(givenOutput ?? (isSingle ? s_work : DefaultResults()));
        string chart = runs > 1 ? Path.Combine(output, Name + "-memory.svg") : result.GetValue(_chart) ?? Path.Combine(output, "memory.svg");
        return new JobOptions
        {
            Input = result.GetValue(_input) is { } input ? Path.GetFullPath(input) : null,
            Output = output,
            Work = Path.GetFullPath(result.GetValue(_work) ?? (isSingle ? output : s_work)),
            Chart = Path.GetFullPath(chart),
            Runs = runs,
            Allocators = Allocators(result),
            Parallelism = result.GetRequiredValue(_parallelism)[0],
            Parallelisms = [.. result.GetRequiredValue(_parallelism).Distinct()],
            MemoryLimits = [.. limits.Distinct()],
            BudgetMegabytes = result.GetValue(_budget),
            WatchesIdle = !result.GetValue(_noIdle),
            Repeat = quick && IsDefault(result, _repeat) ? 1 : result.GetValue(_repeat),
            Width = result.GetValue(_width),
            MaximumMegapixels = result.GetValue(_maximumMegapixels),
            TrimPeriod = TimeSpan.FromSeconds(quick && IsDefault(result, _trimPeriod) ? 0.25 : result.GetValue(_trimPeriod)),
            SyntheticCount = quick && IsDefault(result, _count) ? 4 : result.GetValue(_count),
            SyntheticMegapixels = quick && IsDefault(result, _megapixels) ? 4 : result.GetValue(_megapixels),
            UseLibjpeg = !result.GetValue(_noLibjpeg),
            IsChild = result.GetValue(_child),
        };
    }

    public IEnumerable<string> ChildArguments(JobOptions options, AllocatorKind allocator, string input)
    {
        yield return _child.Name;
        yield return _input.Name;
        yield return input;
        yield return _work.Name;
        yield return options.Work;
        yield return _allocator.Name;
        yield return allocator.ToString().ToLowerInvariant();
        yield return _parallelism.Name;
        yield return FormattableString.Invariant($"{options.Parallelism}");
        yield return _repeat.Name;
        yield return FormattableString.Invariant($"{options.Repeat}");
        yield return _width.Name;
        yield return FormattableString.Invariant($"{options.Width}");
        yield return _maximumMegapixels.Name;
        yield return FormattableString.Invariant($"{options.MaximumMegapixels}");
        yield return _trimPeriod.Name;
        yield return FormattableString.Invariant($"{options.TrimPeriod.TotalSeconds}");
        if (options.BudgetMegabytes is { } budget)
        {
            yield return _budget.Name;
            yield return FormattableString.Invariant($"{budget}");
        }

        if (!options.UseLibjpeg)
        {
            yield return _noLibjpeg.Name;
        }

        if (!options.WatchesIdle)
        {
            yield return _noIdle.Name;
        }
    }

    public static ResultDocument NewDocument(string title, ParseResult result)
        => MeasurementRun.NewDocument(Name, Name, title, result);

    private void CheckTogether(CommandResult result)
    {
        bool hasLimits = result.GetValue(_memoryLimit) is { Length: > 0 };
        if (result.GetValue(_chart) is not null && (hasLimits || result.GetValue(_runs) > 1))
        {
            result.AddError("--chart goes with a single run; that of several lies beside their results");
        }

        if (hasLimits && result.GetValue(_runs) > 1)
        {
            result.AddError("--memory-limit goes with --repeat, not with --runs");
        }

        if (!hasLimits && result.GetValue(_parallelism) is { Length: > 1 })
        {
            result.AddError("--parallelism takes several numbers with --memory-limit alone");
        }

        // Tokens, not values: a name that does not exist has no value.
        bool namesBudget = result.GetResult(_allocator)?.Tokens.Any(token => token.Value == s_allocatorNames[(int)AllocatorKind.Budget]) == true;
        if (!hasLimits && namesBudget && result.GetValue(_budget) is null)
        {
            result.AddError("the allocator named budget wants --budget, or --memory-limit to choose one");
        }
    }

    // What a budget is cannot be known without one; where there is one, all of them are compared.
    private IReadOnlyList<AllocatorKind> Allocators(ParseResult result)
    {
        bool hasBudget = result.GetValue(_budget) is not null || result.GetValue(_memoryLimit) is { Length: > 0 };
        string[] names = result.GetRequiredValue(_allocator);
        return names.Contains(All)
            ? [.. Enum.GetValues<AllocatorKind>().Where(kind => kind != AllocatorKind.Budget || hasBudget)]
            : [.. names.Select(name => Enum.Parse<AllocatorKind>(name, ignoreCase: true)).Distinct()];
    }

    private static Option<int[]> Several(string name, string description, int[] defaultValue, int least, params string[] aliases) =>
        new Option<int[]>(name, aliases) { Description = description, AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => defaultValue }.AtLeast(least);

    private static string DefaultResults() => Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe()));

    private static Option<int> AtLeastOne(string name, string description, int defaultValue, params string[] aliases) =>
        new Option<int>(name, aliases) { Description = description, DefaultValueFactory = _ => defaultValue }.AtLeast(1);

    private static bool IsDefault(ParseResult result, Option option) => result.GetResult(option) is null or { Implicit: true };
}
