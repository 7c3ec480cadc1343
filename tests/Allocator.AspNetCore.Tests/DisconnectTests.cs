using System.IO.Pipelines;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Hosting;

namespace Allocator.AspNetCore.Tests;

/// <summary>Clients that go at any moment, timeouts of others, and a host that stops: nothing stays reserved.</summary>
public class DisconnectTests
{
    private const int ClientGone = 6;
    private const long Most = 12L << 20;

    [Theory]
    [InlineData(1000)]
    [InlineData(200_000)]
    public async Task Client_LeavesDuringItsUpload_ReservesNothing(int sent)
    {
        bool isEstimated = false;
        TaskCompletionSource hasBegun = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use((context, next) =>
            {
                hasBegun.SetResult();
                return next(context);
            });
            app.MapPost("/", () => "").RequireMemory(_ =>
            {
                isEstimated = true;
                return new ValueTask<long>(Most);
            });
        });
        RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 300_000);
        await client.SendAsync(new byte[sent]);

        // What the server has not read when the connection is reset is lost, the head of the request too.
        await hasBegun.Task.WaitAsync(Patience.Limit);
        client.Reset();

        await UntilGoneAsync(service, "sent its body");
        Assert.False(isEstimated);
        Assert.Equal(0, service.Used);
    }

    /// <summary>Its operating system says good-bye for it, in the middle of the body.</summary>
    [Fact]
    public async Task Client_ClosesDuringItsUpload_CountsAsGone()
    {
        TaskCompletionSource hasBegun = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use((context, next) =>
            {
                hasBegun.SetResult();
                return next(context);
            });
            app.MapPost("/", () => "").RequireMemory(_ => new ValueTask<long>(Most));
        });
        RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 300_000);
        await client.SendAsync(new byte[1000]);
        await hasBegun.Task.WaitAsync(Patience.Limit);

        client.Dispose();

        await UntilGoneAsync(service, "sent its body");
        Assert.DoesNotContain(service.Log.Entries, entry => entry.Id == 5);
    }

    /// <summary>One stream of a connection that stays.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Http2Stream_IsReset_ReservesNothing(bool isUploading)
    {
        using CancellationTokenSource giveUp = new();
        TaskCompletionSource hasBegun = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.Use((context, next) =>
                {
                    hasBegun.TrySetResult();
                    return next(context);
                });
                app.MapPost("/", () => "done").RequireMemory(_ => new ValueTask<long>(Most), Timeout.InfiniteTimeSpan);
            },
            protocols: HttpProtocols.Http2);
        MemoryReservation others = await service.Allocator.ReserveAsync(Most);
        Pipe body = new(new PipeOptions(pauseWriterThreshold: 0));
        await body.Writer.WriteAsync(new byte[200_000]);
        if (!isUploading)
        {
            await body.Writer.CompleteAsync();
        }

        Task<HttpResponseMessage> sending = PostAsync(service, body.Reader.AsStream(), giveUp.Token);
        await (isUploading ? hasBegun.Task.WaitAsync(Patience.Limit) : service.UntilWaitsAsync(1));
        giveUp.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => sending);
        await UntilGoneAsync(service, isUploading ? "sent its body" : "waited for memory");
        others.Dispose();
        using HttpResponseMessage response = await PostAsync(service, Stream.Null, CancellationToken.None);
        Assert.Equal("done", await response.Content.ReadAsStringAsync());
        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task Client_LeavesWhileItWaits_LeavesTheQueue()
    {
        bool hasRun = false;
        await using Service service = await Service.StartAsync(app =>
        {
            app.MapPost("/", () => hasRun = true).RequireMemory(_ => new ValueTask<long>(Most), Timeout.InfiniteTimeSpan);
            app.MapGet("/", () => "done").RequireMemory(_ => new ValueTask<long>(Most), TimeSpan.Zero);
        });
        MemoryReservation others = await service.Allocator.ReserveAsync(Most);
        RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 3);
        await client.SendAsync("abc");
        await service.UntilWaitsAsync(1);

        client.Reset();

        await UntilGoneAsync(service, "waited for memory");
        others.Dispose();
        Assert.Equal("done", await service.Client.GetStringAsync("/"));
        Assert.False(hasRun);
        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task Client_LeavesWhileItsEndpointRuns_EndsItsReservation()
    {
        TaskCompletionSource isRunning = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(app => app.MapPost("/", async (HttpContext context) =>
        {
            using PixelBuffer<int> pixels = context.GetMemoryReservation().AllocatePixels<int>(1000, 1000);
            isRunning.SetResult();
            await Task.Delay(Timeout.Infinite, context.RequestAborted);
        }).RequireMemory(_ => new ValueTask<long>(Most)));
        RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 0);
        await isRunning.Task.WaitAsync(Patience.Limit);
        Assert.True(service.Used >= Most);

        client.Reset();

        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task Client_LeavesDuringItsEstimate_ReservesNothing()
    {
        TaskCompletionSource isRunning = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(app => app.MapPost("/", () => "").RequireMemory(async context =>
        {
            isRunning.SetResult();
            await Task.Delay(Timeout.Infinite, context.RequestAborted);
            return Most;
        }));
        RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 0);
        await isRunning.Task.WaitAsync(Patience.Limit);

        client.Reset();

        await UntilGoneAsync(service, "estimated");
        Assert.Equal(0, service.Used);
    }

    /// <summary>The timeout is of ASP.NET Core's own middleware, which answers for it.</summary>
    [Fact]
    public async Task Request_TimesOutWhileItWaits_Is504()
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.UseRequestTimeouts();
                app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(Most))
                    .WithRequestTimeout(TimeSpan.FromMilliseconds(100));
            },
            builder => builder.Services.AddRequestTimeouts()
                .AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes));
        using MemoryReservation others = await service.Allocator.ReserveAsync(Most);

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(HttpStatusCode.GatewayTimeout, response.StatusCode);
        Assert.Equal(Most, service.Used);
    }

    [Fact]
    public async Task Host_Stops_WaitingRequestsGet503AndRunningOnesEnd()
    {
        TaskCompletionSource isRunning = new(TaskCreationOptions.RunContinuationsAsynchronously);
        TaskCompletionSource mayEnd = new(TaskCreationOptions.RunContinuationsAsynchronously);
        Service service = await Service.StartAsync(app => app.MapGet("/", async () =>
        {
            isRunning.SetResult();
            await mayEnd.Task;
            return "done";
        }).RequireMemory(_ => new ValueTask<long>(Most), Timeout.InfiniteTimeSpan));
        MemoryAllocator allocator = service.Allocator;
        Task<string> running = service.Client.GetStringAsync("/");
        await isRunning.Task.WaitAsync(Patience.Limit);
        Task<HttpResponseMessage> waiting = service.Client.GetAsync("/");
        await service.UntilWaitsAsync(1);

        Task stopped = service.StopAsync();

        using HttpResponseMessage response = await waiting.WaitAsync(Patience.Limit);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        Assert.NotNull(response.Headers.RetryAfter);
        Assert.False(stopped.IsCompleted);
        mayEnd.SetResult();
        Assert.Equal("done", await running.WaitAsync(Patience.Limit));
        await stopped.WaitAsync(Patience.Limit);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);

        await service.DisposeAsync();
        Assert.Throws<ObjectDisposedException>(() => allocator.Allocate<byte>(1));
    }

    [Fact]
    public async Task Host_Stops_AdmitsRequestsThatNeedNotWait()
    {
        TaskCompletionSource hasBegun = new(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use((context, next) =>
            {
                hasBegun.SetResult();
                return next(context);
            });
            app.MapPost("/", () => "done").RequireMemory(_ => new ValueTask<long>(Most));
        });
        using RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/", 2);
        await client.SendAsync("a");
        await hasBegun.Task.WaitAsync(Patience.Limit);

        Task stopped = service.StopAsync();
        CancellationToken stopping = service.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
        await Patience.UntilAsync(() => stopping.IsCancellationRequested);
        await client.SendAsync("b");

        Assert.Equal("HTTP/1.1 200 OK", await client.ReadStatusAsync());
        await stopped.WaitAsync(Patience.Limit);
    }

    private static Task<HttpResponseMessage> PostAsync(Service service, Stream body, CancellationToken cancellationToken)
    {
        HttpRequestMessage request = new(HttpMethod.Post, "/")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new StreamContent(body),
        };
        return service.Client.SendAsync(request, cancellationToken);
    }

    private static Task UntilGoneAsync(Service service, string stage) => Patience.UntilAsync(() =>
    {
        foreach (Log.Entry entry in service.Log.Entries)
        {
            if (entry.Id == ClientGone && entry.Message.Contains(stage, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    });
}
