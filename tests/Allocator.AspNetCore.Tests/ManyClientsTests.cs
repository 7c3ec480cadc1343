using Allocator.AspNetCore.Admission;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// Thousands of clients: that wait, and that vanish. <c>ALLOCATOR_UPLOAD_ROUNDS</c> makes them 2,000 and 8,000; without it fewer come.
/// </summary>
[Collection(nameof(BodyTests))]
public class ManyClientsTests : IDisposable
{
    private const long Most = 12L << 20;
    private const int BodyLength = 100_000;

    // What the runtime keeps for itself: sockets of its engine, files of the log.
    private const int OtherDescriptors = 20;

    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("ALLOCATOR_UPLOAD_ROUNDS") is not null;

    private readonly DirectoryInfo _folder;

    public ManyClientsTests(TemporaryFolder folder)
    {
        _folder = folder.Directory;
        Environment.SetEnvironmentVariable(TemporaryFolder.Variable, _folder.FullName);
    }

    public void Dispose() => Environment.SetEnvironmentVariable(TemporaryFolder.Variable, null);

    [Fact]
    public async Task Requests_ThousandsWait_AllAreServedAndHoldNoThread()
    {
        int requests = s_isLong ? 2000 : 300;
        await using Service service = await Service.StartAsync(
            app => app.MapPost("/", () => "").RequireMemory(_ => new ValueTask<long>(Most), Timeout.InfiniteTimeSpan));
        int descriptors = CountDescriptors();
        int threads = ThreadPool.ThreadCount;
        MemoryReservation others = await service.Allocator.ReserveAsync(Most);
        RawConnection[] clients = await Task.WhenAll(Enumerable.Range(0, requests).Select(_ => service.ConnectAsync()));
        await Task.WhenAll(clients.Select(async client =>
        {
            await client.SendHeadAsync("/", 3);
            await client.SendAsync("abc");
        }));
        await service.UntilWaitsAsync(requests);

        Assert.InRange(ThreadPool.ThreadCount, 1, Math.Max(threads, Environment.ProcessorCount) + 50);
        others.Dispose();
        string?[] answers = await Task.WhenAll(clients.Select(client => client.ReadStatusAsync()));

        Assert.All(answers, static answer => Assert.Equal("HTTP/1.1 200 OK", answer));
        await UntilNothingIsLeftAsync(service, clients, descriptors);
    }

    /// <summary>A quarter each: before its request, in its upload, while it waits, and while its endpoint runs.</summary>
    [Fact]
    public async Task Clients_ThousandsVanish_LeaveNothing()
    {
        int waves = s_isLong ? 40 : 2;
        const int ClientsOfAWave = 200;
        await using Service service = await Service.StartAsync(app =>
        {
            app.MapPost("/wait", () => "").RequireMemory(_ => new ValueTask<long>(Most), Timeout.InfiniteTimeSpan);
            app.MapPost("/run", async (HttpContext context) =>
            {
                using PixelBuffer<int> pixels = context.GetMemoryReservation().AllocatePixels<int>(40, 100);
                await Task.Delay(Timeout.Infinite, context.RequestAborted);
            }).RequireMemory(_ => new ValueTask<long>(20_000));
        });
        int descriptors = CountDescriptors();
        long waited = 0;
        for (int wave = 0; wave < waves; wave++)
        {
            MemoryReservation others = await service.Allocator.ReserveAsync(Most);
            RawConnection[] clients = await Task.WhenAll(Enumerable.Range(0, ClientsOfAWave).Select(_ => service.ConnectAsync()));
            await SendAsync(clients.Where(static (_, i) => i % 4 == 3), "/run", BodyLength);
            await Patience.UntilAsync(() => service.Allocator.GetStatistics().OutstandingAllocations == ClientsOfAWave / 4);
            await SendAsync(clients.Where(static (_, i) => i % 4 == 2), "/wait", BodyLength);
            await SendAsync(clients.Where(static (_, i) => i % 4 == 1), "/wait", BodyLength - 1);
            waited += ClientsOfAWave / 4;
            await service.UntilWaitsAsync(waited);
            foreach (RawConnection client in clients)
            {
                client.Reset();
            }

            others.Dispose();
            await UntilNothingIsLeftAsync(service, clients, descriptors);
        }

        Assert.Equal("HTTP/1.1 200 OK", await ServeAsync(service));
    }

    private static Task SendAsync(IEnumerable<RawConnection> clients, string path, int sent) => Task.WhenAll(clients.Select(async client =>
    {
        await client.SendHeadAsync(path, BodyLength);
        await client.SendAsync(new byte[sent]);
    }));

    private static async Task<string?> ServeAsync(Service service)
    {
        using RawConnection client = await service.ConnectAsync();
        await client.SendHeadAsync("/wait", 0);
        return await client.ReadStatusAsync();
    }

    private static int CountDescriptors() => OperatingSystem.IsLinux() ? Directory.GetFileSystemEntries("/proc/self/fd").Length : 0;

    private async Task UntilNothingIsLeftAsync(Service service, RawConnection[] clients, int descriptors)
    {
        foreach (RawConnection client in clients)
        {
            client.Dispose();
        }

        await service.UntilUnusedAsync();
        await Patience.UntilAsync(() => BufferedBody.HeldBytes == 0);
        await Patience.UntilAsync(() => CountDescriptors() <= descriptors + OtherDescriptors);
        Assert.Empty(_folder.GetFiles());

        // A request that was cancelled ends after its place in the queue.
        AdmissionMeter meter = service.Services.GetRequiredService<AdmissionMeter>();
        await Patience.UntilAsync(() => meter.Of(service.Allocator).Waiting == 0);
    }
}
