namespace Allocator.AspNetCore.Tests;

/// <summary>An endpoint whose managed memory ends is answered 503; one that throws the same for a broken file is an error.</summary>
public class ManagedShortageTests
{
    private const string HeapLimit = "0x8000000"; // 128 MiB

    [Theory]
    [InlineData("endpoint")]
    [InlineData("estimate")]
    [InlineData("body")]
    public void Requests_WithoutManagedMemory_AreAnswered503AndLeaveNothing(string failing)
    {
        ExhaustedRuntime.Survive(() => RemoteExecutor.Invoke(
            static async failing =>
            {
                List<byte[]> kept = [];
                void Fill(string step)
                {
                    try
                    {
                        while (step == failing)
                        {
                            lock (kept)
                            {
                                kept.Add(new byte[4 << 20]);
                            }
                        }
                    }
                    finally
                    {
                        // What a request allocated becomes garbage when it fails. Without any of it nothing can write a response or a log.
                        kept.RemoveRange(0, Math.Min(2, kept.Count));
                    }
                }

                await using Service service = await Service.StartAsync(app =>
                {
                    app.Use((context, next) =>
                    {
                        context.Request.Body = new FailingStream(context.Request.Body, () => Fill("body"));
                        return next(context);
                    });
                    app.UseRouting();
                    app.MapPost("/", (HttpContext context) =>
                    {
                        using PixelBuffer<int> pixels = context.GetMemoryReservation().AllocatePixels<int>(500, 500);
                        Fill("endpoint");
                    }).RequireMemory(_ =>
                    {
                        Fill("estimate");
                        return new ValueTask<long>(1 << 20);
                    });
                });

                for (int i = 0; i < 3; i++)
                {
                    using HttpResponseMessage response = await service.Client.PostAsync("/", new ByteArrayContent(new byte[100_000]));
                    lock (kept)
                    {
                        kept.Clear();
                    }

                    Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
                    Assert.NotNull(response.Headers.RetryAfter);
                }

                await service.UntilUnusedAsync();
                GC.Collect();
                GC.WaitForPendingFinalizers();
                Assert.Equal(0, service.Allocator.GetStatistics().Abandoned);
                Log.Entry[] errors = [.. service.Log.Entries.Where(entry => entry.Id == 12)];
                Assert.Equal(3, errors.Length);
                Assert.All(errors, error => Assert.Contains("at ", $"{error.Exception}", StringComparison.Ordinal));
            },
            failing,
            WithHeapLimit()));
    }

    [Fact]
    public void Response_HasBegun_IsAborted()
    {
        ExhaustedRuntime.Survive(() => RemoteExecutor.Invoke(
            static async () =>
            {
                List<byte[]> kept = [];
                await using Service service = await Service.StartAsync(app => app.MapGet("/", async (HttpContext context) =>
                {
                    await context.Response.WriteAsync("begun");
                    await context.Response.Body.FlushAsync();
                    try
                    {
                        while (true)
                        {
                            kept.Add(new byte[4 << 20]);
                        }
                    }
                    finally
                    {
                        kept.RemoveRange(0, Math.Min(2, kept.Count));
                    }
                }).RequireMemory(_ => new ValueTask<long>(1 << 20)));

                await Assert.ThrowsAnyAsync<HttpRequestException>(() => service.Client.GetStringAsync("/"));
                kept.Clear();
                await service.UntilUnusedAsync();
                Assert.Single(service.Log.Entries, entry => entry.Id == 12);
            },
            WithHeapLimit()));
    }

    [Fact]
    public async Task OutOfMemoryException_WithMemoryLeft_IsAnErrorOfTheApplication()
    {
        await using Service service = await Service.StartAsync(app => app
            .MapGet("/", static string () => throw new OutOfMemoryException("This file is broken."))
            .RequireMemory(_ => new ValueTask<long>(1 << 20)));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(HttpStatusCode.InternalServerError, response.StatusCode);
        Assert.DoesNotContain(service.Log.Entries, entry => entry.Id == 12);
        await service.UntilUnusedAsync();
    }

    /// <summary>The body of a request, whose first read does something.</summary>
    private sealed class FailingStream(Stream body, Action read) : Stream
    {
        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => throw new NotSupportedException();

        public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            read();
            return body.ReadAsync(buffer, cancellationToken);
        }

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Flush() => throw new NotSupportedException();
    }

    private static RemoteInvokeOptions WithHeapLimit()
    {
        RemoteInvokeOptions options = new() { Environment = { ["DOTNET_GCHeapHardLimit"] = HeapLimit } };
        return options;
    }
}
