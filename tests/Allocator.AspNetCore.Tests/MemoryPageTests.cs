using System.Diagnostics;
using System.Text.Json;
using System.Text.RegularExpressions;
using Allocator.AspNetCore.Page;
using Allocator.Diagnostics;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Hosting;

namespace Allocator.AspNetCore.Tests;

/// <summary>The memory page: who may open it, what it serves, and what Debian's chromium makes of it, without a window.</summary>
public sealed partial class MemoryPageTests
{
    private const string Browser = "/usr/bin/chromium";
    private const string Hostile = "<img src=x onerror=document.title='caught'>\"'&amp;";

    // Long enough for a browser that starts on a busy machine.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task Start_InProductionWithoutAuthorization_Fails()
    {
        InvalidOperationException exception = await Assert.ThrowsAsync<InvalidOperationException>(
            () => StartAsync(Environments.Production, app => app.MapMemoryPage()));

        Assert.Contains("RequireAuthorization", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_InDevelopmentOrOpenedToEveryone_Succeeds()
    {
        await using Service development = await StartAsync(Environments.Development, app => app.MapMemoryPage());
        await using Service open = await StartAsync(Environments.Production, app => app.MapMemoryPage().AllowAnonymous());

        Assert.Equal(HttpStatusCode.OK, (await development.Client.GetAsync("/memory")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await open.Client.GetAsync("/memory")).StatusCode);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Page_WithAuthorization_IsProtectedWithAllThatBelongsToIt(bool isFallback)
    {
        await using Service service = await StartAsync(
            Environments.Production,
            app =>
            {
                IEndpointConventionBuilder page = app.MapMemoryPage();
                if (!isFallback)
                {
                    page.RequireAuthorization();
                }
            },
            builder =>
            {
                builder.Services.AddAuthentication().AddCookie(options => options.Events.OnRedirectToLogin = context =>
                {
                    context.Response.StatusCode = StatusCodes.Status401Unauthorized;
                    return Task.CompletedTask;
                });
                AuthorizationPolicy signedIn = new AuthorizationPolicyBuilder("Cookies").RequireAuthenticatedUser().Build();
                builder.Services.AddAuthorization(
                    options => (options.DefaultPolicy, options.FallbackPolicy) = (signedIn, isFallback ? signedIn : null));
            });

        foreach (string path in new[] { "", "/memory.css", "/memory.js", "/samples" })
        {
            Assert.Equal(HttpStatusCode.Unauthorized, (await service.Client.GetAsync($"/memory{path}")).StatusCode);
        }
    }

    [Fact]
    public void Map_WithoutAnAllocator_SaysWhatIsMissing()
    {
        using WebApplication application = WebApplication.CreateBuilder().Build();

        InvalidOperationException exception = Assert.Throws<InvalidOperationException>(() => application.MapMemoryPage());

        Assert.Contains("AddMemoryAllocator", exception.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/memory", "")]
    [InlineData("/memory", "/")]
    [InlineData("/a/{tenant}/memory", "")]
    [InlineData("/", "")]
    public async Task Page_UnderAnyPath_NamesItsOwnFiles(string pattern, string end)
    {
        await using Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage(pattern));
        Uri page = new(service.Address, pattern.Replace("{tenant}", "x y", StringComparison.Ordinal) + end);

        using HttpResponseMessage response = await service.Client.GetAsync(page);
        string html = await response.Content.ReadAsStringAsync();

        Assert.Contains("default-src 'none'", response.Headers.GetValues("Content-Security-Policy").Single(), StringComparison.Ordinal);
        Assert.True(response.Headers.CacheControl?.NoStore);
        string[] files = [.. FileName().Matches(html).Select(match => match.Groups[1].Value)];
        Assert.Equal(3, files.Length);
        foreach (string file in files)
        {
            Assert.Equal(HttpStatusCode.OK, (await service.Client.GetAsync(new Uri(page, WebUtility.HtmlDecode(file)))).StatusCode);
        }
    }

    [Fact]
    public async Task Samples_AfterATime_AreTheNewOnes()
    {
        await using Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage());
        using MemoryReservation reservation = await service.Allocator.ReserveAsync(5 << 20);

        using JsonDocument first = JsonDocument.Parse(await service.Client.GetStringAsync("/memory/samples"));
        JsonElement sample = first.RootElement.GetProperty("allocators")[0].GetProperty("samples")[0];
        using JsonDocument second = JsonDocument.Parse(
            await service.Client.GetStringAsync($"/memory/samples?after={long.MaxValue}"));

        Assert.Equal(5 << 20, sample.GetProperty("reserved").GetInt64());
        Assert.Equal(Service.Budget, sample.GetProperty("limit").GetInt64());
        Assert.Equal(0, second.RootElement.GetProperty("process").GetArrayLength());
    }

    [SkippableFact]
    public async Task Page_InABrowser_DrawsWhatIsServedAndRunsNoName()
    {
        Skip.IfNot(File.Exists(Browser), "chromium is not installed.");
        await using Service service = await StartFilledAsync();

        (string page, string complaints) = await BrowseAsync(
            ["--virtual-time-budget=3000", "--dump-dom", new Uri(service.Address, "/memory").AbsoluteUri]);

        Assert.DoesNotContain("CONSOLE", complaints, StringComparison.Ordinal);
        Assert.Contains("<title>Memory</title>", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<img", page, StringComparison.Ordinal);
        Assert.Contains("&lt;img src=x", page, StringComparison.Ordinal);
        foreach (string line in new[] { "limit", "outstanding", "reserved", "idle", "waiting" })
        {
            string points = Regex.Match(page, $"<polyline class=\"{line}\" points=\"([^\"]*)\"").Groups[1].Value;
            Assert.InRange(points.Split(' ').Length, MemorySampler.Room / 2, MemorySampler.Room);
        }
    }

    /// <summary>For people: <c>ALLOCATOR_SCREENSHOTS=folder</c> has the page painted, in light and in dark.</summary>
    [SkippableTheory]
    [InlineData("light")]
    [InlineData("dark")]
    public async Task Page_Painted_HasAPicture(string scheme)
    {
        string? folder = Environment.GetEnvironmentVariable("ALLOCATOR_SCREENSHOTS");
        Skip.If(folder is null, "ALLOCATOR_SCREENSHOTS names no folder.");
        await using Service service = await StartFilledAsync("thumbnails");
        string file = Path.Combine(folder!, $"memory-page-{scheme}.png");

        await BrowseAsync(
            [
                "--virtual-time-budget=3000", "--window-size=1000,1025", "--hide-scrollbars", $"--screenshot={file}",
                $"--blink-settings=preferredColorScheme={(scheme == "dark" ? 0 : 1)}", new Uri(service.Address, "/memory").AbsoluteUri,
            ]);

        Assert.True(new FileInfo(file).Length > 10_000);
    }

    // Bursts: up to the limit, with as many waiting as there is no room for, and back.
    private static async Task<Service> StartFilledAsync(string name = Hostile)
    {
        Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage(), builder =>
            builder.Services.AddMemoryAllocator(name, options => options.MemoryBudgetMegabytes = 200), addsDefault: false);
        MemorySampler sampler = service.Services.GetRequiredService<MemorySampler>();
        await sampler.StopAsync(CancellationToken.None);
        sampler.Source = MemoryLoadSource.ControlGroup;
        const long Megabyte = 1 << 20;
        long start = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - ((MemorySampler.Room + 1) * 1000L);
        for (int i = 0; i < MemorySampler.Room; i++)
        {
            double load = Math.Clamp((Math.Sin(i / 40.0) * 1.4) + (Math.Sin(i / 3.0) / 10), 0, 1);
            long outstanding = (long)(load * 150 * Megabyte);
            long idle = (long)(40 * Megabyte * Math.Max(0, Math.Cos(i / 40.0)));
            long waiting = (long)(Math.Max(0, load - 0.9) * 120);
            sampler.Add(new ProcessSample(start + (i * 1000L), outstanding + idle + (74 * Megabyte), 400 * Megabyte));
            sampler.Add(
                name,
                new AllocatorSample(start + (i * 1000L), outstanding, idle, (long)(load * 35 * Megabyte), 200 * Megabyte, waiting));
        }

        return service;
    }

    private static Task<Service> StartAsync(
        string environment, Action<WebApplication> map, Action<WebApplicationBuilder>? add = null, bool addsDefault = true) =>
        Service.StartAsync(app => MapIn(environment, app, map), builder =>
        {
            if (addsDefault)
            {
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            }

            add?.Invoke(builder);
        });

    private static void MapIn(string environment, WebApplication app, Action<WebApplication> map)
    {
        app.Services.GetRequiredService<IHostEnvironment>().EnvironmentName = environment;
        map(app);
    }

    private static async Task<(string Output, string Errors)> BrowseAsync(IEnumerable<string> arguments)
    {
        DirectoryInfo profile = Directory.CreateTempSubdirectory();
        ProcessStartInfo start = new(
            Browser,
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--enable-logging=stderr",
                $"--user-data-dir={profile.FullName}", .. arguments,
            ])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process browser = Process.Start(start)!;
        using CancellationTokenSource patience = new(s_patience);
        try
        {
            Task<string> errors = browser.StandardError.ReadToEndAsync(patience.Token);
            string output = await browser.StandardOutput.ReadToEndAsync(patience.Token);
            await browser.WaitForExitAsync(patience.Token);
            return (output, await errors);
        }
        finally
        {
            if (!browser.HasExited)
            {
                browser.Kill(entireProcessTree: true);
                browser.WaitForExit();
            }

            profile.Delete(recursive: true);
        }
    }

    [GeneratedRegex("(?:href|src|data-samples)=\"(?!data:)([^\"]*)\"")]
    private static partial Regex FileName();
}
