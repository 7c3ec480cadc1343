using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Hosting;

namespace ThumbnailService.Serving;

/// <summary>The command that runs the service: by hand, or by the load generator.</summary>
internal static class ServeCommand
{
    public const string Announcement = "listening on ";

    private static readonly Option<int?> s_budget = new("--budget")
    {
        Description = "MiB of memory for all requests together. [default: none]",
    };
    private static readonly Option<bool> s_unpooled = new("--unpooled") { Description = "Keep nothing between requests." };
    private static readonly Option<string> s_url = new("--url")
    {
        Description = "Where to listen.",
        DefaultValueFactory = _ => "http://127.0.0.1:0",
    };
    private static readonly Option<bool> s_child = new("--child") { Hidden = true };

    public static Command Create()
    {
        Command command = new(
            "serve", "Serves thumbnails: POST a JPEG or PNG to /thumbnails?width=200.") { s_budget, s_unpooled, s_url, s_child };
        command.SetAction((parsed, cancellationToken) => ServeAsync(parsed, cancellationToken));
        return command;
    }

    /// <summary>Returns the arguments that start the service as a child, which ends with this process.</summary>
    public static string[] ChildArguments(AllocatorKind kind, int? budgetMegabytes) =>
    [
        "serve", s_child.Name,
        .. kind == AllocatorKind.Unpooled ? [s_unpooled.Name] : Array.Empty<string>(),
        .. budgetMegabytes is { } budget ? [s_budget.Name, Invariant($"{budget}")] : Array.Empty<string>(),
    ];

    private static async Task<int> ServeAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        if (parsed.GetValue(s_child))
        {
            ChildProgram.EndWithParent();
        }

        int? budget = parsed.GetValue(s_budget);
        AllocatorKind kind = budget is not null
            ? AllocatorKind.Budget
            : parsed.GetValue(s_unpooled)
            ? AllocatorKind.Unpooled
            : AllocatorKind.Pool;
        using PixelStore store = PixelStore.Create(kind, TimeSpan.FromMinutes(1), budget);
        await using WebApplication service = ThumbnailServer.Create(
            parsed.GetRequiredValue(s_url), store, new PictureCodecs(useLibjpeg: true));
        await service.StartAsync(cancellationToken);
        await Console.Out.WriteLineAsync(Announcement + service.Urls.First());
        await Console.Out.FlushAsync(cancellationToken);
        await service.WaitForShutdownAsync(cancellationToken);
        return 0;
    }
}
