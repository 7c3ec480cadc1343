using System.Text.Json;
using Allocator.AspNetCore.Admission;

namespace Allocator.AspNetCore.Tests;

/// <summary>What clients are told, by whichever writer, and whatever stands around the cause.</summary>
public class RefusalTests
{
    /// <summary>The writer of controllers claims those without <c>[ApiController]</c> and writes nothing for them.</summary>
    [Fact]
    public async Task Refusal_OfAPlainController_HasProblemDetails()
    {
        await using Service service = await Service.StartAsync(
            app => app.MapControllers().RequireMemory(_ => new ValueTask<long>(Service.Budget + 1)),
            builder =>
            {
                builder.Services.AddControllers().AddApplicationPart(typeof(ReservationController).Assembly);
                builder.Services.AddProblemDetails();
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            });

        using HttpResponseMessage response = await service.Client.GetAsync("/attributed");

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
        using JsonDocument problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        Assert.Equal(413, problem.RootElement.GetProperty("status").GetInt32());
    }

    [Theory]
    [InlineData("inner", 413)]
    [InlineData("aggregate", 413)]
    [InlineData("data", 413)]
    [InlineData("another's", 500)]
    [InlineData("endless", 500)]
    public async Task Refusal_WrappedByACodec_IsFound(string way, int status)
    {
        await using Service service = await Service.StartAsync(app => app.MapGet("/", void (HttpContext _) => throw Wrap(way))
            .RequireMemory(_ => new ValueTask<long>(1)));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(status, (int)response.StatusCode);
    }

    [Fact]
    public void Refusal_OfARequestThatWaitsForever_HasALongRetryAfter() =>
        Assert.InRange(Refusal.Busy(Timeout.InfiniteTimeSpan, "").RetryAfterSeconds!.Value, 30, 46);

    [Fact]
    public async Task Refusal_AfterUnflushedBytes_IsComplete()
    {
        await using Service service = await Service.StartAsync(app => app.MapGet("/", void (HttpContext context) =>
        {
            context.Response.BodyWriter.GetSpan(4)[..4].Fill((byte)' ');
            context.Response.BodyWriter.Advance(4);
            throw new MemoryLimitExceededException(2, 1);
        }).RequireMemory(_ => new ValueTask<long>(1)));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Contains("413", await response.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    private static Exception Wrap(string way)
    {
        MemoryLimitExceededException refusal = new(2, 1);
        Exception decoding = new InvalidDataException("It cannot be decoded.");
        switch (way)
        {
            case "inner":
                return new InvalidDataException("", new InvalidDataException("", refusal));
            case "aggregate":
                return new AggregateException(decoding, new AggregateException(decoding, refusal));
            case "data":
                decoding.Data["Allocator.Refusal"] = refusal;
                return new InvalidDataException("", decoding);
            case "endless":
                decoding.Data["Allocator.Refusal"] = decoding;
                return decoding;
            default:
                return decoding;
        }
    }
}
