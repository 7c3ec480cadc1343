namespace ThumbnailService.Trials;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of pictures; null: synthetic photographs are made first.</param>
internal sealed record ServiceLoad(string? Input, int LimitMegabytes, int Requests, int Clients, bool IsQuick);

/// <summary>The options of the load generator.</summary>
internal sealed class ServiceOptions
{
    private readonly Option<string?> _input = new("--input")
    {
        Description = "Folder of pictures to upload. Without it a set of large synthetic photographs is made first.",
    };
    private readonly Option<int> _limit = AtLeast("--memory-limit", "MiB of the memory cgroup that the service runs in.", 400, 96);
    private readonly Option<int> _requests = AtLeast("--requests", "Uploads in each trial.", 96, 1);
    private readonly Option<int> _clients = AtLeast("--clients", "Uploads at once.", 32, 1);

    public void AddTo(Command command)
    {
        command.Options.Add(_input);
        command.Options.Add(_limit);
        command.Options.Add(_requests);
        command.Options.Add(_clients);
    }

    public ServiceLoad Read(MeasurementRun run) => new(
        run.Get(_input) is { } input ? Path.GetFullPath(input) : null,
        run.Get(_limit, 192),
        run.Get(_requests, 24),
        run.Get(_clients, 12),
        run.IsQuick);

    private static Option<int> AtLeast(string name, string description, int defaultValue, int least) =>
        new Option<int>(name) { Description = description, DefaultValueFactory = _ => defaultValue }.AtLeast(least);
}
