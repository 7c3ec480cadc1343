namespace ThumbnailService.Trials;

/// <summary>The options of the load generator.</summary>
internal static class ServiceOptions
{
    public static readonly Option<string?> Url = new("--url")
    {
        Description = "A service that runs already: it is loaded as it is. Without it one is started in memory cgroups.",
    };

    public static readonly Option<string?> Input = new("--input")
    {
        Description = "Folder of pictures to upload. Without it JPEGs, progressive too, and PNGs of mixed sizes are made first.",
    };

    public static readonly Option<int[]> Limits =
        ContainerOptions.Numbers("--limits", "MiB of the memory cgroups that the service runs in.", [512, 256], 96);

    public static readonly Option<int> Requests = ContainerOptions.Number("--requests", "Requests of a run.", 160);
    public static readonly Option<int> Clients = ContainerOptions.Number("--clients", "Clients at once.", 16);
    public static readonly Option<int> Runs = ContainerOptions.Number("--runs", "Runs in each cgroup.", 1);
    public static readonly Option<double> Idle = new Option<double>("--idle")
    {
        Description = "Seconds without a request before the memory is compared with that at the start.",
        DefaultValueFactory = _ => 16,
    }.AtLeast(0);

    public static void AddTo(Command command)
    {
        foreach (Option option in (Option[])[Url, Input, Limits, Requests, Clients, Runs, Idle])
        {
            command.Options.Add(option);
        }
    }
}
