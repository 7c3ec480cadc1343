namespace Allocator.AspNetCore.Tests;

/// <summary>A request whose job was refused memory for the moment runs once more before its client is refused.</summary>
public class RunAgainTests
{
    private const int Large = 12 << 20;

    // What another job holds is returned when the first run has been refused. GET promises that running it twice does no harm.
    [Theory]
    [InlineData("GET", HttpStatusCode.OK, 2)]
    [InlineData("POST", HttpStatusCode.ServiceUnavailable, 1)]
    public async Task RequireMemory_FirstRunIsRefusedMemory_RunsOnceMoreIfTheMethodIsSafe(string method, HttpStatusCode status, int runs)
    {
        List<(Guid Scope, bool HasItem, bool HasHeader)> seen = [];
        MemoryReservation? other = null;
        await using Service service = await StartAsync(context =>
        {
            seen.Add((
                context.RequestServices.GetRequiredService<Scoped>().Id,
                context.Items.ContainsKey("left over"),
                context.Response.Headers.ContainsKey("left-over")));
            context.Items["left over"] = true;
            context.Response.Headers["left-over"] = "yes";
            try
            {
                context.GetMemoryReservation().Allocate<byte>(Large).Dispose();
            }
            finally
            {
                other?.Dispose();
            }
        });
        Assert.True(service.Allocator.TryReserve(8 << 20, out other));

        using HttpRequestMessage request = new(new HttpMethod(method), "/");
        using HttpResponseMessage response = await service.Client.SendAsync(request);

        Assert.Equal(status, response.StatusCode);
        Assert.Equal(runs, seen.Count);
        Assert.All(seen, static run => Assert.Equal((false, false), (run.HasItem, run.HasHeader)));

        // What a middleware has put into a service of the request is there in both runs: who asks, for instance.
        Assert.Single(seen.Select(static run => run.Scope).Distinct());
        Assert.Equal(0, service.Used);
    }

    [Theory]
    [InlineData("multipart")]
    [InlineData("urlencoded")]
    [InlineData("bytes")]
    public async Task AllowMemoryRetry_PostIsRefusedMemory_RunsOnceMoreWithTheWholeBody(string kind)
    {
        List<string> seen = [];
        MemoryReservation? other = null;
        await using Service service = await StartAsync(
            async context =>
            {
                seen.Add(await ReadAsync(context.Request));
                try
                {
                    context.GetMemoryReservation().Allocate<byte>(Large).Dispose();
                }
                finally
                {
                    other?.Dispose();
                }
            },
            static endpoint => endpoint.AllowMemoryRetry());
        Assert.True(service.Allocator.TryReserve(8 << 20, out other));

        using HttpContent content = kind switch
        {
            "multipart" => new MultipartFormDataContent { { new ByteArrayContent("picture"u8.ToArray()), "file", "a.jpg" } },
            "urlencoded" => new FormUrlEncodedContent([new("file", "picture")]),
            _ => new ByteArrayContent("picture"u8.ToArray()),
        };
        using HttpResponseMessage response = await service.Client.PostAsync("/", content);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(["picture", "picture"], seen);
        Assert.Equal(0, service.Used);

        static async Task<string> ReadAsync(HttpRequest request)
        {
            IFormCollection? form = request.HasFormContentType ? await request.ReadFormAsync() : null;
            await using Stream stream = form?.Files.Count > 0 ? form.Files[0].OpenReadStream() : request.Body;
            using StreamReader reader = new(stream);
            return form is { Files.Count: 0 } ? form["file"].ToString() : await reader.ReadToEndAsync();
        }
    }

    // Bytes that the first run has not flushed would stand in front of the answer of the second.
    [Fact]
    public async Task RequireMemory_FirstRunHasWrittenAndIsRefused_IsNotRunAgain()
    {
        int runs = 0;
        await using Service service = await StartAsync(context =>
        {
            runs++;
            context.Response.BodyWriter.GetSpan(4)[..4].Fill((byte)' ');
            context.Response.BodyWriter.Advance(4);
            context.GetMemoryReservation().Allocate<byte>(Large).Dispose();
        });
        Assert.True(service.Allocator.TryReserve(8 << 20, out MemoryReservation? other));
        using HttpResponseMessage response = await service.Client.GetAsync("/");
        Assert.Equal((HttpStatusCode.ServiceUnavailable, 1), (response.StatusCode, runs));
        other.Dispose();
    }

    // Codecs hide the cause behind an exception of their own clean-up.
    [Fact]
    public async Task RequireMemory_EndpointHidesTheRefusal_Is503()
    {
        MemoryReservation? other = null;
        await using Service service = await StartAsync(static context =>
        {
            try
            {
                context.GetMemoryReservation().Allocate<byte>(Large).Dispose();
            }
            catch (MemoryLimitExceededException)
            {
                throw new NullReferenceException();
            }
        });
        Assert.True(service.Allocator.TryReserve(8 << 20, out other));
        using HttpResponseMessage response = await service.Client.GetAsync("/");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        Log.Entry entry = Assert.Single(service.Log.Entries, static entry => entry.Id == 5);
        Assert.Contains("was refused memory 1 times, beyond 1,048,576 reserved bytes", entry.Message, StringComparison.Ordinal);
        other.Dispose();
    }

    // The endpoint has made do with less, and then fails for a reason of its own.
    [Fact]
    public async Task RequireMemory_EndpointRejectsTheRequestAfterARefusal_IsItsOwnAnswer()
    {
        MemoryReservation? other = null;
        int runs = 0;
        await using Service service = await StartAsync(context =>
        {
            runs++;
            Assert.Throws<MemoryLimitExceededException>(() => context.GetMemoryReservation().Allocate<byte>(Large).Dispose());
            throw new BadHttpRequestException("The picture is too wide.", StatusCodes.Status422UnprocessableEntity);
        });
        Assert.True(service.Allocator.TryReserve(8 << 20, out other));
        using HttpResponseMessage response = await service.Client.GetAsync("/");
        Assert.Equal((HttpStatusCode.UnprocessableEntity, 1), (response.StatusCode, runs));
        other.Dispose();
    }

    // Its time is over by then; but it is the memory that was missing.
    [Fact]
    public async Task RequireMemory_CodecFailsAfterARefusalAndTheRequestTimeout_Is503()
    {
        await using Service service = await Service.StartAsync(
            static application =>
            {
                application.UseRequestTimeouts();
                application.MapPost("/", static async (HttpContext context) =>
                {
                    Assert.Throws<MemoryLimitExceededException>(() => context.GetMemoryReservation().Allocate<byte>(Large).Dispose());
                    await Task.Delay(Timeout.Infinite, context.RequestAborted).ContinueWith(static _ => { }, TaskScheduler.Default);
                    throw new InvalidOperationException("The codec failed.");
                })
                .RequireMemory(static _ => new ValueTask<long>(1 << 20), TimeSpan.FromSeconds(30))
                .WithRequestTimeout(TimeSpan.FromSeconds(3));
            },
            static builder =>
            {
                builder.Services.AddRequestTimeouts();
                builder.Services.AddMemoryAllocator(static options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            });
        Assert.True(service.Allocator.TryReserve(8 << 20, out MemoryReservation? other));
        using HttpResponseMessage response = await service.Client.PostAsync("/", new StringContent("x"));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
        other.Dispose();
    }

    private static Task<Service> StartAsync(Action<HttpContext> run) => StartAsync(
        context =>
        {
            run(context);
            return Task.CompletedTask;
        },
        static _ => { });

    private static Task<Service> StartAsync(Func<HttpContext, Task> run, Action<IEndpointConventionBuilder> describe) => Service.StartAsync(
        application => describe(application.Map("/", (HttpContext context) => run(context))
            .RequireMemory(static _ => new ValueTask<long>(1 << 20), TimeSpan.FromSeconds(30))),
        static builder =>
        {
            builder.Services.AddScoped<Scoped>();
            builder.Services.AddMemoryAllocator(static options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
        });

    private sealed class Scoped
    {
        public Guid Id { get; } = Guid.NewGuid();
    }
}
