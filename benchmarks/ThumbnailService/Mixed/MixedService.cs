using LoadResizeSave;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Processing;

namespace ThumbnailService.Mixed;

/// <summary>How a service keeps its requests within the container.</summary>
/// <param name="Name">Its name on the command line.</param>
/// <param name="Semaphore">How many requests a semaphore lets in; 0: the package admits them.</param>
internal sealed record MixedWay(string Name, string Title, int Semaphore = 0, bool HasSize = false)
{
    public static IReadOnlyList<MixedWay> All { get; } =
    [
        new("size", "RequireMemoryBySize()", HasSize: true),
        new("name", "RequireMemory()"),
        new("semaphore-1", "SemaphoreSlim(1)", Semaphore: 1),
        new("semaphore-2", "SemaphoreSlim(2)", Semaphore: 2),
    ];

    public bool IsOurs => Semaphore == 0;

    public static MixedWay Get(string name) => All.First(way => way.Name == name);
}

/// <summary>
/// The service that the guides build, without any number: ImageSharp 2.1 makes a thumbnail of a file. Admitted by the package, with
/// ImageSharp's memory from its allocator; or as many at once as a semaphore lets in, with ImageSharp's own memory.
/// </summary>
internal static class MixedService
{
    public const string CommandName = "serve-mixed";

    private const int Side = 320;

    // Enough for each header of a photograph; a longer one has no size, and is a job like those without.
    private const int HeaderBytes = 64 * 1024;

    private static readonly Argument<string> s_way = new("way");
    private static readonly Argument<string> s_folder = new("folder");

    public static Command Create()
    {
        Command command = new(CommandName) { s_way, s_folder };
        command.Hidden = true;
        command.SetAction(ServeAsync);
        return command;
    }

    private static async Task<int> ServeAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        ChildProgram.EndWithParent();
        string folder = parsed.GetRequiredValue(s_folder);
        await using WebApplication service = Build(MixedWay.Get(parsed.GetRequiredValue(s_way)), name => Path.Combine(folder, name));
        await service.StartAsync(cancellationToken);
        await Console.Out.WriteLineAsync(ServeCommand.Announcement + service.Urls.First());
        await Console.Out.FlushAsync(cancellationToken);
        await service.WaitForShutdownAsync(cancellationToken);
        return 0;
    }

    private static WebApplication Build(MixedWay way, Func<string, string> find)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        _ = builder.Logging.SetMinimumLevel(LogLevel.Warning);
        _ = builder.WebHost.UseUrls("http://127.0.0.1:0");
        if (way.IsOurs)
        {
            _ = builder.Services.AddMemoryAllocator();
        }

        WebApplication service = builder.Build();
        if (!way.IsOurs)
        {
            SemaphoreSlim semaphore = new(way.Semaphore);
            _ = service.MapGet("/{name}", async (string name) =>
            {
                await semaphore.WaitAsync();
                try
                {
                    return await MakeThumbnailAsync(find(name));
                }
                finally
                {
                    _ = semaphore.Release();
                }
            });
            return service;
        }

        SixLabors.ImageSharp.Configuration.Default.MemoryAllocator =
            new ImageSharpAllocator(service.Services.GetRequiredService<MemoryAllocator>());
        RouteHandlerBuilder thumbnails = service.MapGet("/{name}", (string name) => MakeThumbnailAsync(find(name)));
        _ = way.HasSize
            ? thumbnails.RequireMemoryBySize(http => ReadSizeAsync(find((string)http.GetRouteValue("name")!)))
            : thumbnails.RequireMemory();
        return service;
    }

    private static async Task<IResult> MakeThumbnailAsync(string path)
    {
        using Image image = await Image.LoadAsync(path);
        double scale = Math.Min(1, (double)Side / Math.Max(image.Width, image.Height));
        image.Mutate(context => context.Resize((int)Math.Ceiling(image.Width * scale), (int)Math.Ceiling(image.Height * scale)));
        using MemoryStream saved = new();
        await image.SaveAsJpegAsync(saved);
        return Results.Bytes(saved.ToArray(), "image/jpeg");
    }

    private static async ValueTask<long> ReadSizeAsync(string path)
    {
        await using FileStream file = File.OpenRead(path);
        byte[] start = new byte[HeaderBytes];
        int length = await file.ReadAtLeastAsync(start, start.Length, throwOnEndOfStream: false);
        return PictureHeader.TryRead(start.AsSpan(0, length), out PictureHeader header) ? header.ExpectedBytes : file.Length;
    }
}
