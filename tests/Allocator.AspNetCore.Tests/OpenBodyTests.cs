using System.Security.Cryptography;
using Allocator.AspNetCore.Admission;

namespace Allocator.AspNetCore.Tests;

/// <summary>Views of a received body: they can seek, and move neither each other nor the body of the request.</summary>
public class OpenBodyTests
{
    private static readonly byte[] s_body = RandomNumberGenerator.GetBytes(200_000);

    [Theory]
    [InlineData(1000, false)]
    [InlineData(200_000, false)]
    [InlineData(1000, true)]
    [InlineData(200_000, true)]
    public async Task OpenBody_OfTheEstimateAndTheEndpoint_ReadsAllFromAnyPosition(int length, bool isBufferedByAnother)
    {
        await using Service service = await StartAsync(isBufferedByAnother, async context =>
        {
            byte[] body = new byte[16];
            await context.Request.Body.ReadExactlyAsync(body);
            using Stream one = Open(context);
            using Stream other = Open(context);
            one.Position = length / 2;
            byte[] rest = new byte[length - (length / 2)];
            one.ReadExactly(rest);
            byte[] all = new byte[length];
            await other.ReadExactlyAsync(all);
            await context.Request.Body.CopyToAsync(Stream.Null);
            bool isRight = context.GetMemoryReservation().ReservedBytes >= length
                && rest.AsSpan().SequenceEqual(s_body.AsSpan(length / 2, rest.Length))
                && all.AsSpan().SequenceEqual(s_body.AsSpan(0, length))
                && body.AsSpan().SequenceEqual(s_body.AsSpan(0, 16))
                && one.Read(rest) == 0
                && other.Length == length
                && (one.Seek(-1, SeekOrigin.End), one.ReadByte()) == (length - 1, s_body[length - 1]);
            await context.Response.WriteAsync(isRight ? "right" : "wrong");
        });

        using HttpResponseMessage response = await service.Client.PostAsync("/", new ByteArrayContent(s_body, 0, length));

        Assert.Equal("right", await response.Content.ReadAsStringAsync());
    }

    // Of a file in a form: it does not begin where the body begins.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void View_FarBeyondItsEnd_IsAtItsEnd(bool isFile)
    {
        using SemaphoreSlim turns = new(1);
        using FileStream file = File.Create(Path.GetTempFileName(), 1, FileOptions.DeleteOnClose);
        using Stream store = isFile ? file : new MemoryStream();
        store.Write(s_body);
        using BodyView view = new(store, 100, turns, 50) { Position = long.MaxValue };

        Assert.Equal(0, view.Read(new byte[10]));
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(200_000)]
    public async Task OpenBody_OfManyThreads_EachReadsAll(int length)
    {
        await using Service service = await StartAsync(isBufferedByAnother: false, async context =>
        {
            int right = await CountReadersAsync(context, length);
            await context.Response.WriteAsync($"{right}");
        });

        using HttpResponseMessage response = await service.Client.PostAsync("/", new ByteArrayContent(s_body, 0, length));

        Assert.Equal("16", await response.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task OpenBody_WithoutABody_IsEmpty()
    {
        await using Service service = await Service.StartAsync(app => app
            .MapGet("/", static (HttpContext context) => Open(context).ReadByte())
            .RequireMemory(static context => new ValueTask<long>(Open(context).Length)));

        Assert.Equal("-1", await service.Client.GetStringAsync("/"));
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(200_000)]
    public async Task View_DisposedOrRequestEnded_Throws(int length)
    {
        Stream? kept = null;
        IMemoryReservationFeature? feature = null;
        await using (Service service = await StartAsync(isBufferedByAnother: false, context =>
        {
            feature = context.Features.Get<IMemoryReservationFeature>();
            kept = Open(context);
            Stream closed = Open(context);
            closed.Dispose();
            Assert.Throws<ObjectDisposedException>(() => closed.ReadByte());
            Assert.Throws<ObjectDisposedException>(() => closed.Position);
            return Task.CompletedTask;
        }))
        {
            using HttpResponseMessage response = await service.Client.PostAsync("/", new ByteArrayContent(s_body, 0, length));
            Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        }

        Assert.Throws<ObjectDisposedException>(() => kept!.ReadByte());
        Assert.Throws<ObjectDisposedException>(() => feature!.OpenBody());
    }

    [Fact]
    public async Task View_WrittenTo_Refuses()
    {
        await using Service service = await StartAsync(isBufferedByAnother: false, static context =>
        {
            using Stream view = Open(context);
            Assert.False(view.CanWrite);
            Assert.Throws<NotSupportedException>(() => view.WriteByte(1));
            Assert.Throws<NotSupportedException>(() => view.SetLength(0));
            Assert.Throws<ArgumentOutOfRangeException>(() => view.Position = -1);
            Assert.Throws<IOException>(() => view.Seek(-1, SeekOrigin.Begin));
            return Task.CompletedTask;
        });

        using HttpResponseMessage response = await service.Client.PostAsync("/", new ByteArrayContent(s_body));

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
    }

    [Fact]
    public async Task Reservation_DuringTheEstimate_ThrowsBecauseThereIsNoneYet()
    {
        InvalidOperationException? refused = null;
        await using Service service = await Service.StartAsync(app => app
            .MapGet("/", static () => "")
            .RequireMemory(context =>
            {
                refused = Assert.Throws<InvalidOperationException>(() => context.GetMemoryReservation());
                return new ValueTask<long>(1);
            }));

        Assert.Equal("", await service.Client.GetStringAsync("/"));
        Assert.Contains("no memory reserved yet", refused?.Message, StringComparison.Ordinal);
    }

    private static async Task<int> CountReadersAsync(HttpContext context, int length)
    {
        bool[] right = await Task.WhenAll(Enumerable.Range(0, 16).Select(_ => ReadsAllAsync(context, length)));
        return right.Count(static one => one);
    }

    private static Task<bool> ReadsAllAsync(HttpContext context, int length) => Task.Run(async () =>
    {
        using Stream view = Open(context);
        byte[] all = new byte[length];
        await view.ReadExactlyAsync(all);
        return all.AsSpan().SequenceEqual(s_body.AsSpan(0, length));
    });

    private static Stream Open(HttpContext context) => context.Features.Get<IMemoryReservationFeature>()!.OpenBody();

    // The estimate is what it reads.
    private static async Task<Service> StartAsync(bool isBufferedByAnother, RequestDelegate endpoint)
    {
        return await Service.StartAsync(app =>
        {
            if (isBufferedByAnother)
            {
                app.Use(static (context, next) =>
                {
                    context.Request.EnableBuffering();
                    return next(context);
                });
                app.UseRouting();
            }

            app.MapPost("/", endpoint).RequireMemory(async context =>
            {
                using Stream view = Open(context);
                byte[] all = new byte[view.Length];
                await view.ReadExactlyAsync(all);
                return all.Length;
            });
        });
    }
}
