using System.Globalization;
using System.Text.Json;

namespace Allocator.AspNetCore.Tests;

/// <summary>Who is let in, who waits, and what the others are told.</summary>
public class AdmissionTests
{
    private const long Megabyte = 1 << 20;

    [Fact]
    public async Task Request_WithRoom_RunsWithItsReservation()
    {
        long used = 0;
        MemoryReservation? kept = null;
        await using Service service = await Service.StartAsync(app => app.MapGet("/", (HttpContext context) =>
        {
            kept = context.Features.Get<IMemoryReservationFeature>()!.Reservation;
            used = app.Services.GetRequiredService<MemoryAllocator>().GetStatistics().BudgetUsedBytes;
            using PixelBuffer<int> pixels = context.GetMemoryReservation().AllocatePixels<int>(100, 100);
            return kept.ReservedBytes;
        }).RequireMemory(_ => new ValueTask<long>(8 * Megabyte)));

        Assert.Equal($"{8 * Megabyte}", await service.Client.GetStringAsync("/"));

        Assert.Equal(8 * Megabyte, used);
        await service.UntilUnusedAsync();
        Assert.Throws<ObjectDisposedException>(() => kept!.Allocate<byte>(1));
    }

    [Theory]
    [InlineData(false, "application/json")]
    [InlineData(false, "image/png")]
    [InlineData(true, "application/json")]
    [InlineData(true, "image/png")]
    public async Task Request_WithoutRoom_Is503WithRetryAfterAndProblemDetails(bool hasProblemDetails, string accepted)
    {
        bool hasRun = false;
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => hasRun = true).RequireMemory(_ => new ValueTask<long>(8 * Megabyte), TimeSpan.Zero),
            builder => AddAllocator(builder, hasProblemDetails));
        using MemoryReservation others = await service.Allocator.ReserveAsync(10 * Megabyte);

        using HttpRequestMessage request = new(HttpMethod.Get, "/");
        request.Headers.Add("Accept", accepted);
        using HttpResponseMessage response = await service.Client.SendAsync(request);

        Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        Assert.InRange(response.Headers.RetryAfter!.Delta!.Value.TotalSeconds, 1, 2);
        Assert.True(response.Headers.CacheControl!.NoStore);
        await AssertProblemAsync(response, 503);
        Assert.False(hasRun);
        Assert.Equal(10 * Megabyte, service.Used);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Request_AboveTheBudget_Is413(bool hasProblemDetails)
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(17 * Megabyte)),
            builder => AddAllocator(builder, hasProblemDetails));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Null(response.Headers.RetryAfter);
        await AssertProblemAsync(response, 413);
        Assert.Contains(service.Log.Entries, entry => entry.Id == 5 && entry.Message.Contains("17,825,792", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(long.MaxValue, true)]
    [InlineData(long.MaxValue, false)]
    [InlineData(1L << 60, false)]
    public async Task Request_WithAnAbsurdEstimate_Is413(long bytes, bool hasBudget)
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(bytes)),
            builder => builder.Services.AddMemoryAllocator(options =>
            {
                options.MemoryBudgetMegabytes = hasBudget ? Service.BudgetMegabytes : null;
                options.MinimumFreeMegabytes = 1;
            }));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Equal(0, service.Used);
    }

    [Fact]
    public async Task Request_ThatWaits_RunsWhenThereIsRoom()
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", () => "done").RequireMemory(_ => new ValueTask<long>(8 * Megabyte)));
        MemoryReservation others = await service.Allocator.ReserveAsync(10 * Megabyte);

        Task<string> waiting = service.Client.GetStringAsync("/");
        await service.UntilWaitsAsync(1);
        Assert.False(waiting.IsCompleted);
        others.Dispose();

        Assert.Equal("done", await waiting.WaitAsync(Patience.Limit));
        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task Request_ThatWaitsTooLong_Is503()
    {
        await using Service service = await Service.StartAsync(app => app.MapGet("/", () => "")
            .RequireMemory(_ => new ValueTask<long>(8 * Megabyte), TimeSpan.FromMilliseconds(50)));
        using MemoryReservation others = await service.Allocator.ReserveAsync(10 * Megabyte);

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        Assert.NotNull(response.Headers.RetryAfter);
    }

    [Fact]
    public async Task Request_WithAnEstimateOfZero_RunsAtOnce()
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", (HttpContext context) => context.GetMemoryReservation().ReservedBytes)
                .RequireMemory(_ => new ValueTask<long>(0), TimeSpan.Zero));
        using MemoryReservation others = await service.Allocator.ReserveAsync(Service.Budget);

        Assert.Equal("0", await service.Client.GetStringAsync("/"));
    }

    [Theory]
    [InlineData(false, nameof(InvalidOperationException), 500)]
    [InlineData(false, nameof(BadHttpRequestException), 422)]
    [InlineData(false, nameof(InvalidDataException), 422)]
    [InlineData(false, nameof(MemoryLimitExceededException), 413)]
    [InlineData(false, "negative", 500)]
    [InlineData(true, nameof(InvalidOperationException), 500)]
    [InlineData(true, nameof(BadHttpRequestException), 415)]
    [InlineData(true, nameof(InvalidDataException), 422)]
    public async Task Request_EstimateOrSizeFails_IsRefusedAndReservesNothing(bool isBySize, string failure, int status)
    {
        await using Service service = await Service.StartAsync(app =>
        {
            RouteHandlerBuilder endpoint = app.MapGet("/", () => "");
            _ = isBySize ? endpoint.RequireMemoryBySize(FailAsync) : endpoint.RequireMemory(FailAsync);
        });

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(status, (int)response.StatusCode);
        Assert.Equal(0, service.Used);

        async ValueTask<long> FailAsync(HttpContext _)
        {
            await Task.Yield();
            return failure switch
            {
                nameof(BadHttpRequestException) => throw new BadHttpRequestException("This is no image.", status),
                nameof(InvalidDataException) => throw new InvalidDataException("No codec reads this."),
                nameof(MemoryLimitExceededException) => throw new MemoryLimitExceededException(2, 1),
                "negative" => -1,
                _ => throw new InvalidOperationException(),
            };
        }
    }

    [Theory]
    [InlineData(nameof(InvalidOperationException), 500)]
    [InlineData(nameof(MemoryLimitExceededException), 413)]
    [InlineData("beyond the budget", 413)]
    [InlineData("beyond what is free", 503)]
    public async Task Request_EndpointFails_LeavesNothingReserved(string failure, int status)
    {
        await using Service service = await Service.StartAsync(app => app.MapGet("/", (HttpContext context) =>
        {
            context.Response.Headers.ETag = "\"1\"";
            using IDisposable? more = failure switch
            {
                nameof(MemoryLimitExceededException) => throw new MemoryLimitExceededException(2, 1),
                "beyond the budget" => context.GetMemoryReservation().AllocateGroup<byte>(Service.Budget + 1),
                "beyond what is free" => context.GetMemoryReservation().AllocateGroup<byte>(8 * Megabyte),
                _ => throw new InvalidOperationException(),
            };
        }).RequireMemory(_ => new ValueTask<long>(4 * Megabyte)));
        using MemoryReservation others = await service.Allocator.ReserveAsync(10 * Megabyte);

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(status, (int)response.StatusCode);
        Assert.Equal(status == 503, response.Headers.RetryAfter is not null);
        Assert.Null(response.Headers.ETag);
        await Patience.UntilAsync(() => service.Used == 10 * Megabyte);
    }

    [Fact]
    public async Task Endpoint_ThatFailsAfterItsResponseBegan_BreaksTheConnection()
    {
        await using Service service = await Service.StartAsync(app => app.MapGet("/", async (HttpContext context) =>
        {
            await context.Response.WriteAsync("some");
            await context.Response.Body.FlushAsync();
            throw new MemoryLimitExceededException(2, 1);
        }).RequireMemory(_ => new ValueTask<long>(Megabyte)));

        await Assert.ThrowsAsync<HttpRequestException>(() => service.Client.GetStringAsync("/"));
        await service.UntilUnusedAsync();
    }

    [Fact]
    public void GetMemoryReservation_WithoutRequireMemory_NamesTheMissingCall()
    {
        InvalidOperationException exception =
            Assert.Throws<InvalidOperationException>(() => new DefaultHttpContext().GetMemoryReservation());

        Assert.Contains("RequireMemory", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Endpoints_WithTwoAllocators_EachReserveFromTheirOwn()
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.MapGet("/uploads", (HttpContext context) => context.GetMemoryReservation().Name)
                    .RequireMemory("uploads", _ => new ValueTask<long>(Megabyte), TimeSpan.Zero);
                app.MapGet("/pixels", (HttpContext context) => context.GetMemoryReservation().Name)
                    .RequireMemory("pixels", _ => new ValueTask<long>(Megabyte), TimeSpan.Zero);
            },
            builder => builder.Services
                .AddMemoryAllocator("uploads", options => options.MemoryBudgetMegabytes = 1)
                .AddMemoryAllocator("pixels", options => options.MemoryBudgetMegabytes = 1));
        using MemoryReservation all =
            await service.Services.GetRequiredKeyedService<MemoryAllocator>("uploads").ReserveAsync(Megabyte);

        using HttpResponseMessage refused = await service.Client.GetAsync("/uploads");

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Equal("pixels", await service.Client.GetStringAsync("/pixels"));
    }

    [Fact]
    public void RequireMemory_NegativeTimeout_IsRefused()
    {
        WebApplication app = WebApplication.CreateBuilder().Build();

        Assert.Throws<ArgumentOutOfRangeException>(
            () => app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(1), TimeSpan.FromSeconds(-2)));
    }

    /// <summary>More clients at once than fit, of mixed sizes, with some that never fit.</summary>
    [Fact]
    public async Task Requests_MoreThanFit_AreServedOrRefusedAndLeaveNothing()
    {
        await using Service service = await Service.StartAsync(app => app.MapPost("/{megabytes}", async (HttpContext context) =>
        {
            MemoryReservation job = context.GetMemoryReservation();
            using MemoryGroup<byte> memory = job.AllocateGroup<byte>(job.RemainingBytes);
            memory.Fill(1);
            await Task.Yield();
        }).RequireMemory(
            context => new ValueTask<long>(
                int.Parse((string)context.Request.RouteValues["megabytes"]!, CultureInfo.InvariantCulture) * Megabyte),
            TimeSpan.FromMilliseconds(200)));

        int next = 0;
        List<HttpStatusCode> statuses = [];
        await Task.WhenAll(Enumerable.Range(0, 32).Select(async _ =>
        {
            while (Interlocked.Increment(ref next) is var number and <= 320)
            {
                using ByteArrayContent body = new(new byte[number * 997 % 100_000]);
                using HttpResponseMessage response = await service.Client.PostAsync($"/{(number % 5 * 4) + 1}", body);
                lock (statuses)
                {
                    statuses.Add(response.StatusCode);
                }
            }
        })).WaitAsync(TimeSpan.FromMinutes(2));

        Assert.Equal(320, statuses.Count);
        Assert.Equal(64, statuses.Count(status => status == HttpStatusCode.RequestEntityTooLarge));
        Assert.All(
            statuses,
            status => Assert.True(
                status is HttpStatusCode.OK or HttpStatusCode.ServiceUnavailable or HttpStatusCode.RequestEntityTooLarge, $"{status}"));
        Assert.Contains(HttpStatusCode.OK, statuses);
        await service.UntilUnusedAsync();
        Assert.True(service.Allocator.GetStatistics().PeakCommittedBytes <= Service.Budget);
    }

    private static void AddAllocator(WebApplicationBuilder builder, bool hasProblemDetails)
    {
        builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
        if (hasProblemDetails)
        {
            builder.Services.AddProblemDetails(
                options => options.CustomizeProblemDetails = context => context.ProblemDetails.Extensions["of"] = "the application");
        }
    }

    private static async Task AssertProblemAsync(HttpResponseMessage response, int status)
    {
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType!.MediaType);
        using JsonDocument problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        Assert.Equal(status, problem.RootElement.GetProperty("status").GetInt32());
        Assert.NotEmpty(problem.RootElement.GetProperty("title").GetString()!);
        Assert.NotEmpty(problem.RootElement.GetProperty("detail").GetString()!);
    }
}
