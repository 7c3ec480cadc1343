using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ThumbnailService.Serving;

/// <summary>The command that runs the service: by hand, or by the load generator.</summary>
internal static class ServeCommand
{
    public const string Announcement = "listening on ";

    private static readonly Option<string> s_url = new("--url")
    {
        Description = "Where to listen.",
        DefaultValueFactory = _ => "http://127.0.0.1:5080",
    };
    private static readonly Option<bool> s_unprotected = new("--unprotected")
    {
        Description = "Lets every request in at once, whatever the container has: to see what becomes of it.",
    };
    private static readonly Argument<string[]> s_settings = new("settings")
    {
        Description = "Settings as key=value, e.g. MemoryAllocator:MemoryBudgetMegabytes=200. "
            + "[default: an eighth of what .NET may use stays free]",
        Arity = ArgumentArity.ZeroOrMore,
    };
    private static readonly Option<bool> s_child = new("--child") { Hidden = true };

    public static Command Create()
    {
        Command command = new(
            "serve", "Serves thumbnails: POST a JPEG, PNG or WebP to /thumbnails?width=200; see /memory, /health and /metrics.")
        {
            s_url, s_unprotected, s_settings, s_child,
        };
        command.SetAction(ServeAsync);
        return command;
    }

    /// <summary>Returns the arguments that start the service as a child, which ends with this process.</summary>
    public static string[] ChildArguments(bool isProtected, params string[] settings) =>
    [
        "serve", s_child.Name, s_url.Name, "http://127.0.0.1:0",
        .. isProtected ? [] : (string[])[s_unprotected.Name],
        .. settings,
    ];

    private static async Task<int> ServeAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        if (parsed.GetValue(s_child))
        {
            ChildProgram.EndWithParent();
        }

        await using WebApplication service = ThumbnailServer.Create(
            parsed.GetRequiredValue(s_url),
            !parsed.GetValue(s_unprotected),
            parsed.GetValue(s_child) ? LogLevel.Warning : LogLevel.Information,
            parsed.GetValue(s_settings) ?? []);
        await service.StartAsync(cancellationToken);
        await Console.Out.WriteLineAsync(Announcement + service.Urls.First());
        await Console.Out.FlushAsync(cancellationToken);
        await service.WaitForShutdownAsync(cancellationToken);
        return 0;
    }
}
