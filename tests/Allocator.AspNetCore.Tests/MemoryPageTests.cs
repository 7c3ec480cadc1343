using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.RegularExpressions;
using Allocator.AspNetCore.Page;
using Allocator.Diagnostics;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Hosting;
using Microsoft.Playwright;

namespace Allocator.AspNetCore.Tests;

/// <summary>The memory page: who may open it, what it serves, and what Debian's chromium makes of it, without a window.</summary>
public sealed partial class MemoryPageTests
{
    private const string Browser = "/usr/bin/chromium";
    private const string Hostile = "<img src=x onerror=document.title='caught'>\"'&amp;";

    // WCAG's level AA for text, and in pixels what charts' labels shrink to at most.
    private const double ReadableContrast = 4.5;
    private const double SmallestText = 9;

    // As root there is no sandbox. The browser makes no request of its own.
    private static readonly string[] s_arguments =
    [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ];

    private static readonly ViewportSize s_window = new() { Width = 1000, Height = 1025 };
    private static readonly BrowserNewPageOptions s_phone = new()
    {
        ViewportSize = new() { Width = 390, Height = 844 },
        DeviceScaleFactor = 2,
        IsMobile = true,
        HasTouch = true,
    };

    // Long enough for a browser that starts on a busy machine.
    private static readonly float s_milliseconds = (float)TimeSpan.FromSeconds(90).TotalMilliseconds;

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
    public async Task Page_WithAuthorization_ProtectsAllItsResources(bool isFallback)
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
    public void Map_WithoutAnAllocator_NamesTheMissingCall()
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

    // What the first view's request has in its context goes with the request.
    [Fact]
    public async Task Start_ByARequest_KeepsNothingOfItsContext()
    {
        await using Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage());
        WeakReference value = Start(service.Services.GetRequiredService<MemorySampler>());
        GC.Collect();
        Assert.False(value.IsAlive);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference Start(MemorySampler sampler)
        {
            AsyncLocal<object> local = new();
            WeakReference value = new(new object());
            ExecutionContext.Run(
                ExecutionContext.Capture()!,
                _ =>
                {
                    local.Value = value.Target!;
                    sampler.Start();
                },
                null);
            return value;
        }
    }

    [Fact]
    public async Task Samples_AfterATime_AreOnlyNewerOnes()
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

    [Fact]
    public async Task Samples_JobsHaveNames_ShowEach()
    {
        await using Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage());
        using MemoryReservation running = await service.Allocator.ReserveAsync("photos", 1000);

        using JsonDocument samples = JsonDocument.Parse(await service.Client.GetStringAsync("/memory/samples"));
        JsonElement job = samples.RootElement.GetProperty("allocators")[0].GetProperty("jobs")[0];
        Assert.Equal(
            ("photos", 512, 1, 0),
            (job.GetProperty("name").GetString(), job.GetProperty("size").GetInt64(), job.GetProperty("running").GetInt32(),
                job.GetProperty("waiting").GetInt32()));
    }

    [SkippableTheory]
    [InlineData(ColorScheme.Light)]
    [InlineData(ColorScheme.Dark)]
    public async Task Page_InABrowser_DrawsWhatIsServedAndRunsNoName(ColorScheme scheme)
    {
        await using Service service = await StartFilledAsync();
        await using View view = await View.OpenAsync(service, new() { ColorScheme = scheme });

        Assert.Equal("Memory", await view.Page.TitleAsync());
        Assert.Equal($"Allocator {Hostile}", await view.Page.TextContentAsync("#allocators h2"));
        Assert.Equal(0, await view.Page.Locator("img").CountAsync());
        foreach (string line in new[] { "limit", "outstanding", "reserved", "idle", "waiting" })
        {
            string points = (await view.Page.GetAttributeAsync($"#allocators polyline.{line}", "points"))!;
            Assert.InRange(points.Split(' ').Length, MemorySampler.Room / 2, MemorySampler.Room);
        }

        Assert.Empty(view.Complaints);
        Assert.All(view.Requests, address => Assert.Equal(service.Address.Authority, new Uri(address).Authority));
        Assert.True(await view.ReadContrastAsync() >= ReadableContrast);
    }

    [SkippableFact]
    public async Task Page_InABrowser_IsLiveAndSaysWhenTheServiceIsGone()
    {
        Service service = await StartAsync(Environments.Development, app => app.MapMemoryPage());
        try
        {
            await using View view = await View.OpenAsync(service, new());
            ILocator limit = view.Page.Locator("#allocators dd").First;
            await Assertions.Expect(limit).ToHaveAttributeAsync("data-value", $"{Service.Budget}");
            ILocator reserved = view.Page.Locator("#allocators dl div", new() { HasText = "reserved" }).Locator("dd");
            using (MemoryReservation reservation = await service.Allocator.ReserveAsync(5 << 20))
            {
                await Assertions.Expect(reserved).ToHaveTextAsync("5 MiB", new() { Timeout = s_milliseconds });
            }

            await Assertions.Expect(reserved).ToHaveTextAsync("0 MiB", new() { Timeout = s_milliseconds });
            Assert.Empty(view.Complaints);
            await service.StopAsync();
            await Assertions.Expect(view.Page.Locator("#state"))
                .ToContainTextAsync("The service does not answer", new() { Timeout = s_milliseconds });
        }
        finally
        {
            await service.DisposeAsync();
        }
    }

    [SkippableFact]
    public async Task Page_OnAPhone_FitsItsWidthAndIsReadable()
    {
        await using Service service = await StartFilledAsync();
        await using View view = await View.OpenAsync(service, s_phone);

        Assert.Equal(s_phone.ViewportSize!.Width, await view.Page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
        Assert.True(await view.ReadSmallestTextAsync() >= SmallestText);
    }

    [SkippableFact]
    public async Task Page_PrintedFromADarkBrowser_IsDarkOnWhite()
    {
        await using Service service = await StartFilledAsync();
        await using View view = await View.OpenAsync(service, new() { ColorScheme = ColorScheme.Dark });
        const string Paper = "getComputedStyle(document.body).backgroundColor";

        Assert.NotEqual("rgb(255, 255, 255)", await view.Page.EvaluateAsync<string>(Paper));
        await view.Page.EmulateMediaAsync(new() { Media = Media.Print });
        Assert.Equal("rgb(255, 255, 255)", await view.Page.EvaluateAsync<string>(Paper));
        Assert.True(await view.ReadContrastAsync() >= ReadableContrast);
    }

    /// <summary>The largest first, with stacks only if the page needs authorization.</summary>
    [SkippableTheory]
    [InlineData(false)]
    [InlineData(true)]
    public void Page_WithWatchedBuffers_ListsTheLargestOutstanding(bool needsAuthorization)
    {
        View.SkipWithoutBrowser();
        RemoteExecutor.Invoke(
            static async text =>
            {
                bool needsAuthorization = bool.Parse(text);
                await using Service service = await StartAsync(
                    Environments.Development,
                    app =>
                    {
                        IEndpointConventionBuilder page = app.MapMemoryPage();
                        if (needsAuthorization)
                        {
                            page.RequireAuthorization();
                        }
                    },
                    builder =>
                    {
                        builder.Services.AddMemoryAllocator(options => options.Safety = SafetyMode.Guarded);
                        builder.Services.AddAuthorization(options => options.DefaultPolicy =
                            new AuthorizationPolicyBuilder().RequireAssertion(static _ => true).Build());
                    });
                using PixelBuffer<int> small = service.Allocator.AllocatePixels<int>(300, 300);
                using PixelBuffer<int> large = service.Allocator.AllocatePixels<int>(1000, 1000);
                service.Allocator.AllocatePixels<int>(1100, 1000).Dispose();
                await using View view = await View.OpenAsync(service, new());

                Assert.Equal("3.8 MiB", await view.Page.TextContentAsync("#outstanding tr:first-child td"));
                Assert.Equal(2, await view.Page.Locator("#outstanding tr").CountAsync());
                string? stack = await view.Page.TextContentAsync("#outstanding tr:first-child td.text");
                Assert.Equal(needsAuthorization, stack!.Contains(nameof(Page_WithWatchedBuffers_ListsTheLargestOutstanding)));
                Assert.Equal(!needsAuthorization, stack.Contains("needs authorization", StringComparison.Ordinal));
            },
            $"{needsAuthorization}").Dispose();
    }

    /// <summary>For people: <c>ALLOCATOR_SCREENSHOTS=folder</c> has the page painted, light, dark, on a phone and on paper.</summary>
    [SkippableFact]
    public async Task Page_Screenshots_AreWritten()
    {
        string? folder = Environment.GetEnvironmentVariable("ALLOCATOR_SCREENSHOTS");
        Skip.If(folder is null, "ALLOCATOR_SCREENSHOTS names no folder.");
        await using Service service = await StartFilledAsync("thumbnails");
        foreach ((string name, BrowserNewPageOptions options) in new (string, BrowserNewPageOptions)[]
        {
            ("light", new() { ColorScheme = ColorScheme.Light, ViewportSize = s_window }),
            ("dark", new() { ColorScheme = ColorScheme.Dark, ViewportSize = s_window }),
            ("phone", s_phone),
        })
        {
            await using View view = await View.OpenAsync(service, options);
            string file = Path.Combine(folder!, $"memory-page-{name}.png");
            await view.Page.ScreenshotAsync(new() { Path = file, FullPage = true });
            Assert.True(new FileInfo(file).Length > 10_000);
        }

        await using View paper = await View.OpenAsync(service, new() { ColorScheme = ColorScheme.Dark });
        await paper.Page.PdfAsync(new() { Path = Path.Combine(folder!, "memory-page.pdf"), Format = "A4" });
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

    [GeneratedRegex("(?:href|src|data-samples)=\"(?!data:)([^\"]*)\"")]
    private static partial Regex FileName();

    /// <summary>The page in Debian's chromium, without a window.</summary>
    private sealed class View : IAsyncDisposable
    {
        private readonly IPlaywright _playwright;
        private readonly IBrowser _browser;

        private View(IPlaywright playwright, IBrowser browser, IPage page)
        {
            _playwright = playwright;
            _browser = browser;
            Page = page;
            page.Console += (_, message) => Complaints.Enqueue(message.Text);
            page.PageError += (_, error) => Complaints.Enqueue(error);
            page.Request += (_, request) => Requests.Enqueue(request.Url);
        }

        public IPage Page { get; }

        public ConcurrentQueue<string> Complaints { get; } = new();

        public ConcurrentQueue<string> Requests { get; } = new();

        public static void SkipWithoutBrowser() => Skip.IfNot(File.Exists(Browser), "chromium is not installed.");

        /// <summary>Opens the page, and waits until it has drawn.</summary>
        public static async Task<View> OpenAsync(Service service, BrowserNewPageOptions options)
        {
            SkipWithoutBrowser();
            IPlaywright playwright = await Playwright.CreateAsync();
            IBrowser browser = await playwright.Chromium.LaunchAsync(
                new() { ExecutablePath = Browser, Args = s_arguments, Timeout = s_milliseconds });
            View view = new(playwright, browser, await browser.NewPageAsync(options));
            view.Page.SetDefaultTimeout(s_milliseconds);
            await view.Page.GotoAsync(new Uri(service.Address, "/memory").AbsoluteUri);
            await view.Page.WaitForSelectorAsync("#allocators polyline", new() { State = WaitForSelectorState.Attached });
            return view;
        }

        /// <summary>Returns the least contrast of a text to the card that it is on, as WCAG computes it.</summary>
        public Task<double> ReadContrastAsync() => Page.EvaluateAsync<double>(
            """
            () => {
              const light = text => {
                const [r, g, b] = text.match(/\d+/g).map(one => one / 255)
                  .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
              };
              const card = light(getComputedStyle(document.querySelector("section")).backgroundColor);
              return Math.min(...[...document.querySelectorAll("h1, h2, h3, p, dt, dd, small, text")]
                .map(one => light(one instanceof SVGElement ? getComputedStyle(one).fill : getComputedStyle(one).color))
                .map(ink => Math.max(ink, card) / Math.min(ink, card)));
            }
            """);

        /// <summary>Returns the height of the smallest text in pixels of the page, texts of scaled charts included.</summary>
        public Task<double> ReadSmallestTextAsync() => Page.EvaluateAsync<double>(
            """
            () => Math.min(...[...document.querySelectorAll("h1, h2, h3, p, dt, dd, small, text")].filter(one => one.textContent)
              .map(one => parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM ? one.getScreenCTM().a : 1)))
            """);

        public async ValueTask DisposeAsync()
        {
            await _browser.DisposeAsync();
            _playwright.Dispose();
        }
    }
}
