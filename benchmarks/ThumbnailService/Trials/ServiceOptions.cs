using System.CommandLine;
using System.IO;
using Measuring;

namespace ThumbnailService.Trials;

/// <summary>The options of the load generator.</summary>
internal sealed class ServiceOptions
{
    private readonly Option<string?> _input = new("--input") { Description = "Folder of pictures to upload. Without it a set of large synthetic photographs is made first." };
    private readonly Option<int> _limit = AtLeast("--memory-limit", "MiB of the memory cgroup that the service runs in.", 400, 96);
    private readonly Option<int> _requests = AtLeast("--requests", "Uploads in each trial.", 96, 1);
    private readonly Option<int> _clients = AtLeast("--clients", "Uploads at once.", 32, 1);

    /// <summary>Adds them to <paramref name="command"/>.</summary>
    public void AddTo(Command command)
    {
        command.Options.Add(_input);
        command.Options.Add(_limit);
        command.Options.Add(_requests);
        command.Options.Add(_clients);
    }

    /// <summary>Reads what was given, or for <paramref name="quick"/> runs a small load where nothing was.</summary>
    public ServiceLoad Read(ParseResult parsed, bool quick) => new(
        parsed.GetValue(_input) is { } input ? Path.GetFullPath(input) : null,
        Value(parsed, _limit, quick, 192),
        Value(parsed, _requests, quick, 24),
        Value(parsed, _clients, quick, 12),
        quick);

    private static int Value(ParseResult parsed, Option<int> option, bool quick, int quickValue)
        => quick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetRequiredValue(option);

    private static Option<int> AtLeast(string name, string description, int defaultValue, int least) =>
        new Option<int>(name) { Description = description, DefaultValueFactory = _ => defaultValue }.AtLeast(least);
}
