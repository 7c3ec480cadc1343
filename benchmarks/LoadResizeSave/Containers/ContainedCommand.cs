namespace LoadResizeSave.Containers;

/// <summary>The hidden command that is the child in a container.</summary>
internal static class ContainedCommand
{
    private const string Name = "contained";

    private static readonly Option<string> s_way = new("--way") { Required = true };
    private static readonly Option<int> s_limit = new("--limit") { Required = true };
    private static readonly Option<int> s_workers = new("--workers") { Required = true };
    private static readonly Option<int> s_jobs = new("--jobs") { Required = true };
    private static readonly Option<JobKind[]> s_kinds = new("--kinds") { AllowMultipleArgumentsPerToken = true, Required = true };
    private static readonly Option<string[]> s_pictures = new("--pictures") { AllowMultipleArgumentsPerToken = true, Required = true };
    private static readonly Option<string[]> s_warmUp = new("--warm-up") { AllowMultipleArgumentsPerToken = true };
    private static readonly Option<double> s_settle = new("--settle");
    private static readonly Option<double?> s_trimPeriod = new("--trims-every");
    private static readonly Option<bool> s_keepsMalloc = new("--keep-malloc");
    private static readonly Option<bool> s_explains = new("--explain");

    public static Command Create()
    {
        Command command = new(Name)
        {
            s_way, s_limit, s_workers, s_jobs, s_kinds, s_pictures, s_warmUp, s_settle, s_trimPeriod, s_keepsMalloc, s_explains,
        };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            ChildProgram.EndWithParent();
            new ContainedJobs(Read(parsed), Console.Out).Run();
            return 0;
        });
        return command;
    }

    public static IEnumerable<string> ChildArguments(ContainedOptions options) =>
    [
        Name,
        s_way.Name, options.Way,
        s_limit.Name, Text(options.LimitMegabytes),
        s_workers.Name, Text(options.Workers),
        s_jobs.Name, Text(options.Jobs),
        s_kinds.Name, .. options.Kinds.Select(kind => kind.ToString()),
        s_pictures.Name, .. options.Pictures,
        .. options.WarmUp.Count > 0 ? [s_warmUp.Name, .. options.WarmUp] : Array.Empty<string>(),
        s_settle.Name, Text(options.SettleSeconds),
        .. options.TrimPeriodSeconds is { } seconds ? [s_trimPeriod.Name, Text(seconds)] : Array.Empty<string>(),
        .. options.KeepsMalloc ? [s_keepsMalloc.Name] : Array.Empty<string>(),
        .. options.Explains ? [s_explains.Name] : Array.Empty<string>(),
    ];

    public static ContainedOptions Read(ParseResult parsed) => new()
    {
        Way = parsed.GetRequiredValue(s_way),
        LimitMegabytes = parsed.GetRequiredValue(s_limit),
        Workers = parsed.GetRequiredValue(s_workers),
        Jobs = parsed.GetRequiredValue(s_jobs),
        Kinds = parsed.GetRequiredValue(s_kinds),
        Pictures = parsed.GetRequiredValue(s_pictures),
        WarmUp = parsed.GetValue(s_warmUp) ?? [],
        SettleSeconds = parsed.GetValue(s_settle),
        TrimPeriodSeconds = parsed.GetValue(s_trimPeriod),
        KeepsMalloc = parsed.GetValue(s_keepsMalloc),
        Explains = parsed.GetValue(s_explains),
    };

    private static string Text(IFormattable value) => value.ToString(null, CultureInfo.InvariantCulture);
}
