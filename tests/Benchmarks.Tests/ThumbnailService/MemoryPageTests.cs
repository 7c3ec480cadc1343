using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Measuring.Tests;
using ThumbnailService.Serving;

namespace ThumbnailService.Tests;

/// <summary>The page <c>/memory</c> in a real browser: Debian's chromium, without a window.</summary>
public sealed partial class MemoryPageTests
{
    private const string Browser = "/usr/bin/chromium";

    // The last digit of a coordinate, in pixels.
    private const double Precision = 0.001;

    // Long enough for a browser that starts on a busy machine.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);

    [SkippableFact]
    public async Task Page_InABrowser_DrawsTheServedValuesWithoutComplaint()
    {
        Skip.IfNot(File.Exists(Browser), "chromium is not installed.");
        await using RunningService service = await RunningService.StartAsync();
        await FillAsync(service.History);

        (string page, string complaints) = await BrowseAsync(
            ["--virtual-time-budget=3000", "--dump-dom", new Uri(service.Client.BaseAddress!, "/memory").AbsoluteUri]);

        Assert.DoesNotContain("CONSOLE", complaints, StringComparison.Ordinal);
        Assert.Contains("limit of: ControlGroup", page, StringComparison.Ordinal);
        MemoryHistoryReport served = JsonSerializer.Deserialize(
            await service.GetAsync(ThumbnailServer.SamplesPath), HistoryJson.Default.MemoryHistoryReport)!;
        Check(page, "memory", "limit", served, sample => sample.Limit);
        Check(page, "memory", "used", served, sample => sample.Used);
        Check(page, "memory", "outstanding", served, sample => sample.Outstanding);
        Check(page, "memory", "reserved", served, sample => sample.Reserved);
        Check(page, "memory", "retained", served, sample => sample.Retained);
        Check(page, "requests", "waiting", served, sample => sample.Waiting);

        // The table has what is now, and the most.
        List<long> table = [.. Value().Matches(page).Select(match => long.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))];
        Assert.Equal(12, table.Count);
        Assert.Equal([served.Samples[^1].Outstanding, served.Samples.Max(sample => sample.Outstanding)], table[4..6]);
    }

    /// <summary>For people: <c>ALLOCATOR_SCREENSHOT=file.png</c> has the page painted too.</summary>
    [SkippableFact]
    public async Task Page_Painted_HasAPicture()
    {
        string? file = Environment.GetEnvironmentVariable("ALLOCATOR_SCREENSHOT");
        Skip.If(file is null, "ALLOCATOR_SCREENSHOT names no file.");
        await using RunningService service = await RunningService.StartAsync();
        await FillAsync(service.History);

        _ = await BrowseAsync(
            ["--virtual-time-budget=3000", "--window-size=1100,800", $"--screenshot={file}",
                new Uri(service.Client.BaseAddress!, "/memory").AbsoluteUri]);

        Assert.True(new FileInfo(file!).Length > 10_000);
    }

    // Bursts: up to the limit, with as many waiting as there is no room for, and back. The service's own readings end before.
    private static async Task FillAsync(MemoryHistory history)
    {
        await history.StopAsync(CancellationToken.None);
        history.LimitOf = "ControlGroup";
        const long Megabyte = 1 << 20;
        long start = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - (MemoryHistory.Room * 500);
        for (int i = 0; i < MemoryHistory.Room; i++)
        {
            double load = Math.Max(0, Math.Sin(i / 30.0));
            long outstanding = (long)(load * 260 * Megabyte);
            history.Add(new HistorySample(
                start + (i * 500),
                outstanding,
                (long)(40 * Megabyte * Math.Max(0, Math.Cos(i / 30.0))),
                (long)(load * 50 * Megabyte) + 7,
                outstanding + (70 * Megabyte),
                400 * Megabyte,
                (long)(load * 12)));
        }
    }

    private static void Check(
        string page, string picture, string line, MemoryHistoryReport served, Func<HistorySample, long> value)
    {
        string svg = Regex.Match(page, $"<svg id=\"{picture}\"[^>]*>").Value;
        double most = Number(svg, "data-most");
        double top = Number(svg, "data-top");
        double bottom = Number(svg, "data-bottom");
        string points = Regex.Match(page, $"<polyline id=\"{line}\" points=\"([^\"]*)\"").Groups[1].Value;
        double[] drawn =
        [
            .. points.Split(' ').Select(point => double.Parse(point.Split(',')[1], CultureInfo.InvariantCulture)),
        ];
        Assert.Equal((line, MemoryHistory.Room), (line, drawn.Length));
        double precision = Precision * most / (bottom - top);
        for (int i = 0; i < drawn.Length; i++)
        {
            double read = (bottom - drawn[i]) / (bottom - top) * most;
            Assert.InRange(read - value(served.Samples[i]), -precision, precision);
        }
    }

    private static double Number(string element, string name)
        => double.Parse(Regex.Match(element, $"{name}=\"([^\"]*)\"").Groups[1].Value, CultureInfo.InvariantCulture);

    private static async Task<(string Output, string Errors)> BrowseAsync(IEnumerable<string> arguments)
    {
        using TemporaryFolder profile = new();
        ProcessStartInfo start = new(
            Browser,
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--enable-logging=stderr",
                $"--user-data-dir={profile.Path}", .. arguments,
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
            }
        }
    }

    [GeneratedRegex("data-value=\"(\\d+)\"")]
    private static partial Regex Value();
}
