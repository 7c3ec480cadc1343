using System.Globalization;
using System.IO.Pipelines;
using System.Security.Cryptography;
using Allocator.AspNetCore.Admission;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Mvc;

namespace Allocator.AspNetCore.Tests;

/// <summary>Bodies are received before memory is reserved, and endpoints get every byte of them.</summary>
[Collection(nameof(BodyTests))]
public class BodyTests : IDisposable
{
    private const int Threshold = 64 * 1024;

    private readonly DirectoryInfo _folder;

    public BodyTests(TemporaryFolder folder)
    {
        _folder = folder.Directory;
        Environment.SetEnvironmentVariable(TemporaryFolder.Variable, _folder.FullName);
    }

    public void Dispose() => Environment.SetEnvironmentVariable(TemporaryFolder.Variable, null);

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(Threshold, false)]
    [InlineData(Threshold + 1, false)]
    [InlineData(3_000_000, false)]
    [InlineData(0, true)]
    [InlineData(1, true)]
    [InlineData(Threshold, true)]
    [InlineData(Threshold + 1, true)]
    [InlineData(3_000_000, true)]
    public async Task Body_OfAnyLength_ReachesTheEndpointUnchanged(int length, bool isChunked)
    {
        await using Service service = await Service.StartAsync(app => app.MapPost("/", HashAsync)
            .RequireMemory(_ => new ValueTask<long>(1)));
        byte[] body = Bytes(length);

        string hash = await PostAsync(service, body, isChunked);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), hash);
        Assert.Empty(_folder.GetFiles());
    }

    /// <summary>Request decompression in front reads the body here, and not in the endpoint.</summary>
    [Theory]
    [InlineData("gzip")]
    [InlineData("deflate")]
    [InlineData("br")]
    public async Task Body_WithAWrongContentEncoding_Is400(string encoding)
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.UseRequestDecompression();
                app.MapPost("/", HashAsync).RequireMemory(_ => new ValueTask<long>(1));
            },
            builder =>
            {
                builder.Services.AddRequestDecompression();
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            });
        using ByteArrayContent content = new(Bytes(100_000));
        content.Headers.ContentEncoding.Add(encoding);
        using HttpResponseMessage response = await service.Client.PostAsync("/", content);

        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Contains("Content-Encoding", await response.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Empty(_folder.GetFiles());
    }

    /// <summary>Some middleware keeps one reader, whatever becomes of the stream.</summary>
    [Theory]
    [InlineData(1000)]
    [InlineData(200_000)]
    public async Task Body_BehindAMiddlewareWithAReaderOfItsOwn_ReachesTheEndpoint(int length)
    {
        await using Service service = await Service.StartAsync(app =>
        {
            app.Use(static (context, next) =>
            {
                context.Features.Set<IRequestBodyPipeFeature>(new OneReader(context.Request.BodyReader));
                return next(context);
            });
            app.MapPost("/", static async context => await context.Response.WriteAsync(
                Convert.ToHexString(await SHA256.HashDataAsync(context.Request.BodyReader.AsStream()))))
                .RequireMemory(_ => new ValueTask<long>(1));
        });
        byte[] body = Bytes(length);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), await PostAsync(service, body, isChunked: false));
    }

    /// <summary>An estimate reads headers. Whatever it does to the stream, the endpoint has all of it.</summary>
    [Theory]
    [InlineData("read", 1000, false)]
    [InlineData("read", 200_000, false)]
    [InlineData("dispose", 1000, false)]
    [InlineData("dispose", 200_000, false)]
    [InlineData("pipe", 1000, false)]
    [InlineData("pipe", 200_000, false)]
    [InlineData("read", 200_000, true)]
    [InlineData("dispose", 200_000, true)]
    [InlineData("pipe", 200_000, true)]
    public async Task Body_ReadByTheEstimate_StartsAtItsBeginning(string way, int length, bool isBufferedByAnother)
    {
        await using Service service = await Service.StartAsync(app => MapBuffered(app, isBufferedByAnother).RequireMemory(async context =>
        {
            HttpRequest request = context.Request;
            switch (way)
            {
                case "read":
                    Assert.Equal(4, await request.Body.ReadAtLeastAsync(new byte[4], 4));
                    break;
                case "dispose":
                    using (StreamReader reader = new(request.Body))
                    {
                        await reader.ReadToEndAsync();
                    }

                    break;
                default:
                    ReadResult result = await request.BodyReader.ReadAsync();
                    request.BodyReader.AdvanceTo(result.Buffer.GetPosition(4));
                    break;
            }

            return 1;
        }));
        byte[] body = Bytes(length);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), await PostAsync(service, body, isChunked: false));
    }

    [Fact]
    public async Task Form_WithAFile_IsBound()
    {
        await using Service service = await Service.StartAsync(app => app
            .MapPost("/", ([FromForm] string name, IFormFile file) => $"{name} {file.Length}")
            .DisableAntiforgery()
            .RequireMemory(async context => (await context.Request.ReadFormAsync()).Files[0].Length));
        using MultipartFormDataContent form = new()
        {
            { new StringContent("sunset"), "name" },
            { new ByteArrayContent(Bytes(100_000)), "file", "sunset.jpg" },
        };

        using HttpResponseMessage response = await service.Client.PostAsync("/", form);

        Assert.Equal("sunset 100000", await response.Content.ReadAsStringAsync());
    }

    /// <summary>Not a second time, while the request holds its reservation.</summary>
    [Fact]
    public async Task Form_WithALargeFile_IsStoredOnce()
    {
        long before = 0;
        long written = 0;
        await using Service service = await Service.StartAsync(app => app.MapPost("/", (IFormFile file) =>
        {
            written = CountWritten() - before;
            using Stream stream = file.OpenReadStream();
            return Convert.ToHexString(SHA256.HashData(stream));
        }).DisableAntiforgery().RequireMemory(_ =>
        {
            before = CountWritten();
            return new ValueTask<long>(1);
        }));
        byte[] body = Bytes(3_000_000);
        using MultipartFormDataContent form = new() { { new ByteArrayContent(body), "file", "sunset.jpg" } };

        using HttpResponseMessage response = await service.Client.PostAsync("/", form);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), await response.Content.ReadAsStringAsync());
        Assert.InRange(written, 0, body.Length / 10);
    }

    /// <summary>The limits of forms are those of the endpoint.</summary>
    [Theory]
    [InlineData("/form", 100_000, "200")]
    [InlineData("/limited", 100_000, "400")]
    [InlineData("/minimal-limited", 100_000, "400")]
    public async Task Form_OfAController_IsBoundWithItsLimits(string path, int length, string status)
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.MapControllers().RequireMemory(_ => new ValueTask<long>(1));
                app.MapPost("/minimal-limited", (IFormFile file) => file.Length).DisableAntiforgery()
                    .WithFormOptions(multipartBodyLengthLimit: 1000).RequireMemory(_ => new ValueTask<long>(1));
            },
            builder =>
            {
                builder.Services.AddControllers().AddApplicationPart(typeof(ReservationController).Assembly);
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = Service.BudgetMegabytes);
            });
        byte[] body = Bytes(length);
        using MultipartFormDataContent form = new() { { new ByteArrayContent(body), "file", "sunset.jpg" } };

        using HttpResponseMessage response = await service.Client.PostAsync(path, form);

        Assert.Equal(status, $"{(int)response.StatusCode}");
        string answer = await response.Content.ReadAsStringAsync();
        Assert.True(status != "200" || answer == Convert.ToHexString(SHA256.HashData(body)), answer);
    }

    // What this process has asked to be written; only reads of the form lie between two calls.
    private static long CountWritten() => !OperatingSystem.IsLinux() ? 0 : long.Parse(
        File.ReadLines("/proc/self/io").Single(line => line.StartsWith("wchar:", StringComparison.Ordinal))["wchar: ".Length..],
        CultureInfo.InvariantCulture);

    /// <summary>
    /// Files of a form over one stream would share its position. If a filter has set limits, ASP.NET Core reads the form itself.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Form_WithSeveralFiles_CanBeReadInAnyOrder(bool isReadByAspNetCore)
    {
        await using Service service = await Service.StartAsync(app => app.MapPost("/", async (HttpRequest request) =>
        {
            if (isReadByAspNetCore)
            {
                request.HttpContext.Features.Set<IFormFeature>(new FormFeature(request, new FormOptions()));
            }

            IFormFileCollection files = (await request.ReadFormAsync()).Files;
            await using Stream first = files[0].OpenReadStream();
            await using Stream second = files[1].OpenReadStream();
            byte[][] read = [new byte[100_000], new byte[100_000]];
            await first.ReadExactlyAsync(read[0], 0, 50_000);
            await second.ReadExactlyAsync(read[1], 0, 50_000);
            await first.ReadExactlyAsync(read[0], 50_000, 50_000);
            await second.ReadExactlyAsync(read[1], 50_000, 50_000);
            return $"{Convert.ToHexString(SHA256.HashData(read[0]))} {Convert.ToHexString(SHA256.HashData(read[1]))}";
        }).DisableAntiforgery().RequireMemory(_ => new ValueTask<long>(1)));
        byte[][] bodies = [Bytes(100_000), [.. Bytes(100_000).Reverse()]];
        using MultipartFormDataContent form = new()
        {
            { new ByteArrayContent(bodies[0]), "files", "first.jpg" },
            { new ByteArrayContent(bodies[1]), "files", "second.jpg" },
        };

        using HttpResponseMessage response = await service.Client.PostAsync("/", form);

        Assert.Equal(
            $"{Convert.ToHexString(SHA256.HashData(bodies[0]))} {Convert.ToHexString(SHA256.HashData(bodies[1]))}",
            await response.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task Body_ReadTwice_IsCompleteBothTimes()
    {
        await using Service service = await Service.StartAsync(app => app.MapPost("/", async context =>
        {
            await context.Request.Body.CopyToAsync(Stream.Null);
            context.Request.Body.Position = 0;
            await HashAsync(context);
        }).RequireMemory(_ => new ValueTask<long>(1)));
        byte[] body = Bytes(200_000);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), await PostAsync(service, body, isChunked: false));
    }

    /// <summary>A pipeline that runs again, as that of an exception handler, meets what the first run made.</summary>
    [Fact]
    public async Task Body_OfAPipelineThatRunsTwice_ReachesTheSecondEndpoint()
    {
        await using Service service = await Service.StartAsync(app =>
        {
            app.UseExceptionHandler("/again");
            app.UseRouting();
            app.MapPost("/", (HttpContext _) => throw new InvalidOperationException()).RequireMemory(_ => new ValueTask<long>(1));
            app.MapPost("/again", HashAsync).RequireMemory(_ => new ValueTask<long>(1));
        });
        byte[] body = Bytes(200_000);
        using ByteArrayContent content = new(body);

        using HttpResponseMessage response = await service.Client.PostAsync("/", content);

        Assert.Equal(Convert.ToHexString(SHA256.HashData(body)), await response.Content.ReadAsStringAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Body_AboveTheLimitOfItsEndpoint_Is413AndNothingIsEstimated(bool isChunked)
    {
        bool isEstimated = false;
        await using Service service = await Service.StartAsync(app => app.MapPost("/", HashAsync)
            .WithMetadata(new RequestSizeLimitAttribute(100_000))
            .RequireMemory(_ =>
            {
                isEstimated = true;
                return new ValueTask<long>(1);
            }));

        using ByteArrayContent content = new(Bytes(200_000));
        using HttpRequestMessage request = new(HttpMethod.Post, "/") { Content = content };
        request.Headers.TransferEncodingChunked = isChunked;
        using HttpResponseMessage response = await service.Client.SendAsync(request);

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType!.MediaType);
        Assert.False(isEstimated);
    }

    [Fact]
    public async Task Body_ThatCannotBeStored_Is503AndAnErrorIsLogged()
    {
        Environment.SetEnvironmentVariable(TemporaryFolder.Variable, Path.Combine(_folder.FullName, "missing"));
        await using Service service = await Service.StartAsync(app => app.MapPost("/", HashAsync)
            .RequireMemory(_ => new ValueTask<long>(1)));

        using ByteArrayContent large = new(Bytes(200_000));
        using HttpResponseMessage refused = await service.Client.PostAsync("/", large);
        using ByteArrayContent small = new(Bytes(1000));
        using HttpResponseMessage served = await service.Client.PostAsync("/", small);

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.NotNull(refused.Headers.RetryAfter);
        Assert.Equal(HttpStatusCode.OK, served.StatusCode);
        Assert.Contains(
            service.Log.Entries,
            entry => entry.Level == LogLevel.Error && entry.Message.Contains("missing", StringComparison.Ordinal));
        await service.UntilUnusedAsync();
    }

    /// <summary>A reservation that is held while a slow client uploads starves the others.</summary>
    [Fact]
    public async Task Uploads_Slow_ReserveNothing()
    {
        const int Uploads = 8;
        const int Length = 100_000;
        await using Service service = await Service.StartAsync(app =>
        {
            app.MapPost("/", HashAsync).RequireMemory(_ => new ValueTask<long>(Service.Budget));
            app.MapGet("/", () => "done").RequireMemory(_ => new ValueTask<long>(Service.Budget), TimeSpan.Zero);
        });
        List<RawConnection> uploads = [];
        for (int i = 0; i < Uploads; i++)
        {
            RawConnection upload = await service.ConnectAsync();
            uploads.Add(upload);
            await upload.SendHeadAsync("/", Length);
            await upload.SendAsync(Bytes(Length - 1));
        }

        Assert.Equal("done", await service.Client.GetStringAsync("/"));
        Assert.Equal((0, 0), (service.Used, service.Allocator.GetStatistics().BudgetWaits));

        await Task.WhenAll(uploads.Select(upload => upload.SendAsync([1])));
        foreach (RawConnection upload in uploads)
        {
            Assert.Equal("HTTP/1.1 200 OK", await upload.ReadStatusAsync());
            upload.Dispose();
        }

        await service.UntilUnusedAsync();
    }

    [Fact]
    public async Task Uploads_BeyondTheMemoryForBodies_GoToFiles()
    {
        const int Uploads = 300;
        await using Service service = await Service.StartAsync(app => app.MapPost("/", HashAsync)
            .RequireMemory(_ => new ValueTask<long>(1)));
        List<RawConnection> uploads = [];
        for (int i = 0; i < Uploads; i++)
        {
            RawConnection upload = await service.ConnectAsync();
            uploads.Add(upload);
            await upload.SendHeadAsync("/", Threshold);
            await upload.SendAsync(Bytes(Threshold - 1));
        }

        await Patience.UntilAsync(() => BufferedBody.HeldBytes > BufferedBody.MostHeldBytes / 2);
        Assert.InRange(BufferedBody.HeldBytes, 0, BufferedBody.MostHeldBytes + Threshold);
        await Task.WhenAll(uploads.Select(upload => upload.SendAsync([1])));
        foreach (RawConnection upload in uploads)
        {
            Assert.Equal("HTTP/1.1 200 OK", await upload.ReadStatusAsync());
            upload.Dispose();
        }

        await Patience.UntilAsync(() => BufferedBody.HeldBytes == 0);
    }

    [Fact]
    public async Task Request_WithoutBody_IsNotBuffered()
    {
        Stream? body = null;
        await using Service service = await Service.StartAsync(app => app.MapGet("/", (HttpContext context) =>
        {
            body = context.Request.Body;
            return "";
        }).RequireMemory(_ => new ValueTask<long>(1)));

        await service.Client.GetStringAsync("/");

        Assert.Same(Stream.Null, body);
    }

    /// <summary>Codecs copy what cannot seek, and estimates from it would be refused.</summary>
    [Theory]
    [InlineData(1000, false)]
    [InlineData(200_000, false)]
    [InlineData(200_000, true)]
    public async Task Body_NoForm_CanSeekInTheEstimateAndTheEndpoint(int length, bool isBufferedByAnother)
    {
        await using Service service = await Service.StartAsync(app => MapBuffered(app, isBufferedByAnother).RequireMemory(context =>
        {
            Stream body = context.Request.Body;
            Assert.True(body.CanSeek);
            body.Seek(-1, SeekOrigin.End);
            Assert.Equal((Bytes(length)[^1], length), (body.ReadByte(), body.Position));
            return new ValueTask<long>(1);
        }));

        Assert.Equal(
            Convert.ToHexString(SHA256.HashData(Bytes(length))),
            await PostAsync(service, Bytes(length), isChunked: isBufferedByAnother));
    }

    private static IEndpointConventionBuilder MapBuffered(WebApplication app, bool isBufferedByAnother)
    {
        app.Use((context, next) =>
        {
            if (isBufferedByAnother)
            {
                context.Request.EnableBuffering();
            }

            return next(context);
        });
        return app.MapPost("/", HashAsync);
    }

    private static async Task HashAsync(HttpContext context)
    {
        byte[] hash = await SHA256.HashDataAsync(context.Request.Body, context.RequestAborted);
        await context.Response.WriteAsync(Convert.ToHexString(hash));
    }

    private static byte[] Bytes(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    private static async Task<string> PostAsync(Service service, byte[] body, bool isChunked)
    {
        using ByteArrayContent content = new(body);
        using HttpRequestMessage request = new(HttpMethod.Post, "/") { Content = content };
        request.Headers.TransferEncodingChunked = isChunked;
        using HttpResponseMessage response = await service.Client.SendAsync(request);
        return await response.EnsureSuccessStatusCode().Content.ReadAsStringAsync();
    }

    private sealed class OneReader(PipeReader reader) : IRequestBodyPipeFeature
    {
        public PipeReader Reader => reader;
    }
}
