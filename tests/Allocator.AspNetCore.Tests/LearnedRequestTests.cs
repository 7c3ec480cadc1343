using System.Buffers;
using System.Globalization;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.AspNetCore.Antiforgery;
using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>Endpoints without an estimate, and code in them that is handed no reservation.</summary>
public class LearnedRequestTests
{
    private const long Megabyte = 1 << 20;

    // 5120 x 2880 pixels.
    private static readonly byte[] s_picture =
    [
        0x89, .. "PNG\r\n"u8, 0x1A, 0x0A, 0, 0, 0, 13, .. "IHDR"u8, 0, 0, 0x14, 0, 0, 0, 0x0B, 0x40, 8, 6, 0, 0, 0, 1, 2, 3, 4,
    ];

    [Fact]
    public async Task RequireMemory_WithoutAnEstimate_LearnsForEachEndpoint()
    {
        await using Service service = await Service.StartAsync(static app =>
        {
            app.MapGet("/large", static (HttpContext context, MemoryAllocator allocator) => Use(context, allocator, 12)).RequireMemory();
            app.MapGet("/small", static (HttpContext context, MemoryAllocator allocator) => Use(context, allocator, 4)).RequireMemory();
        });

        Assert.Equal($"{8 * Megabyte}", await GetAsync(service, "/large"));
        for (int i = 0; i < 16; i++)
        {
            Assert.Equal($"{12 * Megabyte}", await GetAsync(service, "/large"));
        }

        Assert.Equal($"{8 * Megabyte}", await GetAsync(service, "/small"));
        Assert.Contains("HTTP: GET /large: 12 MiB, elsewhere ", service.Allocator.DescribeMemory(), StringComparison.Ordinal);
        Assert.Contains(" after 17 jobs, 0 of them refused", service.Allocator.DescribeMemory(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task RequireMemoryBySize_LargeAndSmallRequests_LearnsForEachSize()
    {
        await using Service service = await Service.StartAsync(static app => app
            .MapGet("/{pixels}", static (HttpContext context, MemoryAllocator allocator, int pixels) =>
                Use(context, allocator, pixels / 1000))
            .RequireMemoryBySize(static context => new ValueTask<long>(long.Parse(
                (string)context.Request.RouteValues["pixels"]!, CultureInfo.InvariantCulture))));

        Assert.Equal($"{8 * Megabyte}", await GetAsync(service, "/1000"));
        Assert.Equal($"{1 * Megabyte}", await GetAsync(service, "/1000"));
        Assert.Equal($"{12 * Megabyte}", await GetAsync(service, "/12000"));
        Assert.Equal($"{12 * Megabyte}", await GetAsync(service, "/12000"));
        Assert.Equal($"{1 * Megabyte}", await GetAsync(service, "/1000"));
    }

    // Four bytes a pixel, rounded down to a power of two.
    [Theory]
    [InlineData("picture", 1 << 25)]
    [InlineData("form", 1 << 25)]
    [InlineData("text", 1)]
    [InlineData("nothing", 1)]
    public async Task RequireMemory_BodyIsAPicture_LearnsByItsExpectedBytes(string kind, long size)
    {
        await using Service service = await Service.StartAsync(static app => app
            .MapPost("/", static async (HttpContext context) => await context.Request.Body.CopyToAsync(context.Response.Body)).RequireMemory());
        using HttpContent? content = kind switch
        {
            "picture" => new ByteArrayContent(s_picture),
            "form" => new MultipartFormDataContent
            {
                { new StringContent("200"), "width" },
                { new ByteArrayContent(s_picture), "file", "a.png" },
            },
            "text" => new StringContent(new string('x', 100_000)),
            _ => null,
        };
        byte[] sent = content is null ? [] : await content.ReadAsByteArrayAsync();

        using HttpResponseMessage response = await service.Client.PostAsync("/", content);

        Assert.Equal(sent, await response.Content.ReadAsByteArrayAsync());
        Assert.Equal(size, Assert.Single(service.Allocator.GetJobStatistics()).Size);
    }

    // Its middleware reads the form before the endpoint, if the token is a field of it.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task RequireMemory_FormBehindAntiforgery_IsMeasuredByItsPicture(bool isTokenAField)
    {
        await using Service service = await Service.StartAsync(
            static app =>
            {
                app.UseAntiforgery();
                app.MapGet("/token", static (HttpContext context, IAntiforgery antiforgery) =>
                    antiforgery.GetAndStoreTokens(context).RequestToken);
                app.MapPost("/", static ([FromForm] IFormFile file) => file.Length).RequireMemory();
            },
            static builder =>
            {
                builder.Services.AddAntiforgery();
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            });
        string token = await service.Client.GetStringAsync("/token");
        using MultipartFormDataContent form = new() { { new ByteArrayContent(s_picture), "file", "a.png" } };
        if (isTokenAField)
        {
            form.Add(new StringContent(token), "__RequestVerificationToken");
        }
        else
        {
            form.Headers.Add("RequestVerificationToken", token);
        }

        using HttpResponseMessage response = await service.Client.PostAsync("/", form);

        Assert.Equal($"{s_picture.Length}", await response.Content.ReadAsStringAsync());
        Assert.Equal(1 << 25, Assert.Single(service.Allocator.GetJobStatistics()).Size);
    }

    // As two actions of a controller, Get() and Get(id).
    [Fact]
    public async Task RequireMemory_EndpointsOfOneDisplayName_LearnApart()
    {
        await using Service service = await Service.StartAsync(static app =>
        {
            app.MapGet("/photos", static () => "").WithDisplayName("Photos.Get").RequireMemory();
            app.MapGet("/photos/{id}", static () => "").WithDisplayName("Photos.Get").RequireMemory();
        });
        await service.Client.GetStringAsync("/photos");
        await service.Client.GetStringAsync("/photos/1");
        Assert.Equal(
            ["Photos.Get /photos", "Photos.Get /photos/{id}"],
            service.Allocator.GetJobStatistics().Select(static job => job.Name).Order());
    }

    [Fact]
    public async Task RequireMemoryBySize_RequestWithoutABody_MeasuresAnEmptyOne()
    {
        await using Service service = await Service.StartAsync(static app => app
            .MapPost("/", static () => "").RequireMemoryBySize(static context => PictureHeader.TryRead(context.Request.Body, out _)
                ? new ValueTask<long>(1)
                : throw new InvalidDataException("This is no picture.")));
        using HttpResponseMessage response = await service.Client.PostAsync("/", null);
        Assert.Equal(HttpStatusCode.UnprocessableEntity, response.StatusCode);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    public async Task RequireMemoryBySize_NoSize_FailsAndNamesIt(long size)
    {
        string? message = null;
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use(async (context, next) =>
                message = (await Assert.ThrowsAsync<InvalidOperationException>(() => next(context))).Message);
            app.MapGet("/photos", static () => "done").RequireMemoryBySize(_ => new ValueTask<long>(size));
        });

        await service.Client.GetStringAsync("/photos");

        Assert.Equal($"The size that RequireMemoryBySize has for HTTP: GET /photos is {size}. It must be at least 1.", message);
        Assert.Equal(0, service.Used);
    }

    [Fact]
    public async Task RequireMemory_WithAnAllocatorName_UsesThatAllocator()
    {
        await using Service service = await Service.StartAsync(
            static app =>
            {
                app.MapGet("/", Reserved).RequireMemory("photos", TimeSpan.Zero);
                app.MapGet("/sized", Reserved).RequireMemoryBySize("photos", static _ => new ValueTask<long>(1), TimeSpan.Zero);
            },
            static builder => builder.Services.AddMemoryAllocator("photos", options => options.MemoryBudgetMegabytes = 20));
        MemoryAllocator photos = service.Services.GetRequiredKeyedService<MemoryAllocator>("photos");

        Assert.Equal($"{10 * Megabyte}", await service.Client.GetStringAsync("/"));
        await Patience.UntilAsync(() => photos.GetStatistics().BudgetUsedBytes == 0);
        Assert.Equal($"{10 * Megabyte}", await service.Client.GetStringAsync("/sized"));
        await Patience.UntilAsync(() => photos.GetStatistics().BudgetUsedBytes == 0);
        using (await photos.ReserveAsync(20 * Megabyte))
        {
            foreach (string path in new[] { "/", "/sized" })
            {
                using HttpResponseMessage response = await service.Client.GetAsync(path);
                Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
            }
        }

        static long Reserved(HttpContext context) => context.GetMemoryReservation().ReservedBytes;
    }

    [Fact]
    public void RequireMemory_InvalidArguments_AreRefused()
    {
        RouteGroupBuilder group = WebApplication.CreateBuilder().Build().MapGroup("");
        Assert.Throws<ArgumentException>("allocatorName", () => group.RequireMemory(""));
        Assert.Throws<ArgumentException>("allocatorName", () => group.RequireMemoryBySize("", _ => new ValueTask<long>(1)));
        Assert.Throws<ArgumentNullException>("size", () => group.RequireMemoryBySize(null!));
        Assert.Throws<ArgumentNullException>("size", () => group.RequireMemoryBySize("photos", null!));
        Assert.Throws<ArgumentOutOfRangeException>(
            "timeout", () => group.RequireMemoryBySize(_ => new ValueTask<long>(1), TimeSpan.FromSeconds(-2)));
    }

    [Fact]
    public async Task RequireMemory_ManyAtOnceWithNoNumber_ServesAll()
    {
        await using Service service = await Service.StartAsync(
            static app => app.MapGet("/", static async (HttpContext context, MemoryAllocator allocator) =>
            {
                await Task.Yield();
                return Use(context, allocator, 8);
            }).RequireMemory(),
            static builder => builder.Services.AddMemoryAllocator());

        Task<HttpResponseMessage>[] all = [.. Enumerable.Range(0, 64).Select(_ => service.Client.GetAsync("/"))];
        Assert.All(await Task.WhenAll(all).WaitAsync(Patience.Limit), static response => Assert.True(response.IsSuccessStatusCode));
        Assert.Single(service.Log.Entries, static entry => entry.Id == 20);
    }

    [Fact]
    public async Task RequireMemory_WithAnEstimate_IsAmbientToo()
    {
        await using Service service = await Service.StartAsync(static app => app
            .MapGet("/", static async (HttpContext context, MemoryAllocator allocator) =>
            {
                await Task.Yield();
                using IMemoryOwner<byte> owner = await Task.Run(() => allocator.Allocate<byte>(4 << 20));
                return context.GetMemoryReservation().RemainingBytes;
            }).RequireMemory(static _ => new ValueTask<long>(6 * Megabyte)));

        Assert.Equal($"{2 * Megabyte}", await service.Client.GetStringAsync("/"));
        using IMemoryOwner<byte> outside = service.Allocator.Allocate<byte>(4 << 20);
        await Patience.UntilAsync(() => service.Used == 4 * Megabyte);
    }

    /// <summary>Without its own time a request would be refused too, after half a minute.</summary>
    [Fact]
    public async Task RequireMemory_WithATimeoutAndNoEstimate_RefusesAfterIt()
    {
        await using Service service = await Service.StartAsync(
            static app => app.MapGet("/", static () => "done").RequireMemory(TimeSpan.Zero));
        using (await service.Allocator.ReserveAsync(Service.Budget))
        {
            using HttpResponseMessage response = await service.Client.GetAsync("/").WaitAsync(TimeSpan.FromSeconds(25));
            Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        }

        Assert.Equal("done", await service.Client.GetStringAsync("/"));
        await service.UntilUnusedAsync();
    }

    [Theory]
    [InlineData(MemoryLoadSource.ControlGroup, 512, 102)]
    [InlineData(MemoryLoadSource.JobObject, 350, 70)]
    [InlineData(MemoryLoadSource.ControlGroup, 100, 32)]
    [InlineData(MemoryLoadSource.Machine, 8192, 819)]
    [InlineData(MemoryLoadSource.None, 0, null)]
    public void Compute_AnyMemorySize_ReturnsAPartOfIt(MemoryLoadSource source, long totalMegabytes, int? expected) =>
        Assert.Equal(expected, DefaultLimit.Compute(new MemoryLoad { Source = source, TotalBytes = totalMegabytes << 20 }));

    [Theory]
    [InlineData(MemoryLoadSource.ControlGroup, 350, 140)]
    [InlineData(MemoryLoadSource.JobObject, 100, 34)]
    [InlineData(MemoryLoadSource.ControlGroup, 20, 0)]
    [InlineData(MemoryLoadSource.Machine, 8192, null)]
    [InlineData(MemoryLoadSource.None, 0, null)]
    public void ComputePool_AnyMemorySize_ReturnsHalfOfWhatNeedNotStayFree(MemoryLoadSource source, long totalMegabytes, int? expected) =>
        Assert.Equal(expected, DefaultLimit.ComputePool(new MemoryLoad { Source = source, TotalBytes = totalMegabytes << 20 }));

    [Theory]
    [InlineData(200, null)]
    [InlineData(null, 50)]
    [InlineData(null, 0)]
    public async Task AddMemoryAllocator_WithALimit_KeepsIt(int? budget, int? minimumFree)
    {
        await using Service service = await Service.StartAsync(static _ => { }, builder => builder.Services.AddMemoryAllocator(options =>
        {
            options.MemoryBudgetMegabytes = budget;
            options.MinimumFreeMegabytes = minimumFree;
        }));

        MemoryAllocatorOptions options = service.Services.GetRequiredService<IOptionsMonitor<MemoryAllocatorOptions>>().CurrentValue;
        Assert.Equal((budget, minimumFree), (options.MemoryBudgetMegabytes, options.MinimumFreeMegabytes));
        Assert.DoesNotContain(service.Log.Entries, static entry => entry.Id == 20);
    }

    // The reservation ends after the answer has been sent.
    private static async Task<string> GetAsync(Service service, string path)
    {
        string answer = await service.Client.GetStringAsync(path);
        await service.UntilUnusedAsync();
        return answer;
    }

    private static long Use(HttpContext context, MemoryAllocator allocator, int megabytes)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(megabytes << 20);
        return context.GetMemoryReservation().ReservedBytes;
    }
}
