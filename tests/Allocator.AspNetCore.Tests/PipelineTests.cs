using System.Text;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>Admission among what else stands in a pipeline, and bodies that are not what they say.</summary>
public class PipelineTests
{
    private const long Megabyte = 1 << 20;

    /// <summary>Otherwise anyone could fill the disk, and the queue.</summary>
    [Fact]
    public async Task Request_WithoutAuthorization_IsNeitherReceivedNorEstimated()
    {
        bool isEstimated = false;
        await using Service service = await Service.StartAsync(
            app => app.MapPost("/", () => "").RequireAuthorization().RequireMemory(_ =>
            {
                isEstimated = true;
                return new ValueTask<long>(Megabyte);
            }),
            builder =>
            {
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
                builder.Services.AddAuthentication("none").AddScheme<AuthenticationSchemeOptions, NoOne>("none", null);
                builder.Services.AddAuthorization();
            });
        using RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 1_000_000);

        // It is answered before its body comes.
        Assert.Equal("HTTP/1.1 401 Unauthorized", await client.ReadStatusAsync());
        Assert.False(isEstimated);
        Assert.Equal(0, service.Used);
    }

    [Fact]
    public async Task Response_OfTheOutputCache_NeedsNoMemoryAndNoRefusalIsKept()
    {
        int runs = 0;
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.UseOutputCache();
                app.MapGet("/{picture}", () => $"{++runs}").CacheOutput()
                    .RequireMemory(_ => new ValueTask<long>(8 * Megabyte), TimeSpan.Zero);
            },
            builder =>
            {
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
                builder.Services.AddOutputCache();
            });

        Assert.Equal("1", await service.Client.GetStringAsync("/kept"));
        using (MemoryReservation others = await service.Allocator.ReserveAsync(10 * Megabyte))
        {
            Assert.Equal("1", await service.Client.GetStringAsync("/kept"));
            using HttpResponseMessage refused = await service.Client.GetAsync("/refused");
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        }

        Assert.Equal("2", await service.Client.GetStringAsync("/refused"));
    }

    [Fact]
    public async Task Refusal_AfterAMiddlewareHasBegunTheResponse_BreaksTheConnection()
    {
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use(static async (context, next) =>
            {
                await context.Response.WriteAsync("begun");
                await context.Response.Body.FlushAsync();
                await next(context);
            });
            app.UseRouting();
            app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(Service.Budget + 1));
        });

        await Assert.ThrowsAnyAsync<HttpRequestException>(() => service.Client.GetStringAsync("/"));
        Assert.Equal(0, service.Used);
    }

    /// <summary>The last call counts, whichever kind it is, and there is one reservation.</summary>
    [Theory]
    [InlineData("/estimated", 3)]
    [InlineData("/learned", 8)]
    [InlineData("/twice", 2)]
    public async Task RequireMemory_OnGroupAndEndpoint_ReservesOnce(string path, int expected)
    {
        long used = 0;
        await using Service service = await Service.StartAsync(app =>
        {
            string Use(HttpContext context)
            {
                used = app.Services.GetRequiredService<MemoryAllocator>().GetStatistics().BudgetUsedBytes;
                return $"{context.GetMemoryReservation().ReservedBytes / Megabyte}";
            }

            RouteGroupBuilder group = app.MapGroup("").RequireMemory();
            group.MapGet("/estimated", Use).RequireMemory(_ => new ValueTask<long>(3 * Megabyte));
            group.MapGroup("").RequireMemory(_ => new ValueTask<long>(Megabyte)).MapGet("/learned", Use).RequireMemory();
            group.MapGet("/twice", Use).RequireMemory(_ => new ValueTask<long>(Megabyte))
                .RequireMemory(_ => new ValueTask<long>(2 * Megabyte));
        });

        Assert.Equal($"{expected}", await service.Client.GetStringAsync(path));
        Assert.Equal(expected * Megabyte, used);
        await service.UntilUnusedAsync();
    }

    /// <summary>As by a proxy that frames wrongly: what is behind the body is another request, and this one has its own bytes.</summary>
    [Fact]
    public async Task Body_LongerThanAnnounced_EndsAtTheAnnouncedLength()
    {
        await using Service service = await StartAsync();
        using RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 5);
        await client.SendAsync("12345GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        string answers = await client.ReadToEndAsync();

        Assert.StartsWith("HTTP/1.1 200 OK", answers, StringComparison.Ordinal);
        Assert.Contains("\r\n12345", answers, StringComparison.Ordinal);
        Assert.Contains("HTTP/1.1 405", answers, StringComparison.Ordinal);
        await service.UntilUnusedAsync();
    }

    [Theory]
    [InlineData("5\r\n12345\r\n0\r\n\r\n", "200")]
    [InlineData("5\r\n1234567\r\n0\r\n\r\n", "400")]
    [InlineData("fffffffff\r\n12345", "400")]
    [InlineData("no number\r\n12345", "400")]
    public async Task Body_InChunks_IsReceivedOrRefused(string chunks, string status)
    {
        await using Service service = await StartAsync();
        using RawConnection client = await service.ConnectAsync();
        await client.SendAsync($"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");

        Assert.StartsWith($"HTTP/1.1 {status}", await client.ReadStatusAsync(), StringComparison.Ordinal);
        await service.UntilUnusedAsync();
    }

    /// <summary>Without <c>StopAsync</c>, as after a start of another service that failed.</summary>
    [Fact]
    public async Task Application_DisposedWhileRequestsWait_EndsAndLeavesNothing()
    {
        Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(Megabyte), Timeout.InfiniteTimeSpan));
        MemoryAllocator allocator = service.Allocator;
        MemoryReservation others = await allocator.ReserveAsync(Service.Budget);
        RawConnection[] waiting = await Task.WhenAll(Enumerable.Range(0, 50).Select(_ => service.ConnectAsync()));
        await Task.WhenAll(waiting.Select(static client => client.SendAsync("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
        await service.UntilWaitsAsync(waiting.Length);

        await service.DisposeAsync().AsTask().WaitAsync(Patience.Limit);

        foreach (RawConnection client in waiting)
        {
            client.Dispose();
        }

        others.Dispose();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    /// <summary>Endpoints may come and go while the application runs: their needs are not remembered for ever.</summary>
    [Fact]
    public async Task Endpoints_UnboundedNumber_AreRememberedUpToALimit()
    {
        await using Service service = await Service.StartAsync(static app =>
        {
            for (int i = 0; i < 300; i++)
            {
                app.MapGet($"/{i}", static () => "").RequireMemory();
            }
        });

        for (int i = 0; i < 300; i++)
        {
            await service.Client.GetStringAsync($"/{i}");
        }

        await service.UntilUnusedAsync();
        int jobs = service.Allocator.DescribeMemory().Split("HTTP: GET").Length - 1;
        Assert.InRange(jobs, 1, 256);
    }

    private static Task<Service> StartAsync() => Service.StartAsync(app => app.MapPost("/", static async context =>
    {
        using StreamReader reader = new(context.Request.Body, Encoding.ASCII);
        await context.Response.WriteAsync(await reader.ReadToEndAsync());
    }).RequireMemory(_ => new ValueTask<long>(Megabyte)));

    private sealed class NoOne(IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory logger, UrlEncoder encoder)
        : AuthenticationHandler<AuthenticationSchemeOptions>(options, logger, encoder)
    {
        protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(AuthenticateResult.NoResult());
    }
}
