using System.Net;
using ThumbnailService.Loading;

namespace ThumbnailService.Tests;

public sealed class ThumbnailEndpointTests
{
    [Theory]
    [InlineData("?width=40", 40, 30)]
    [InlineData("", 200, 150)]
    [InlineData("?width=0", 200, 150)]
    [InlineData("?width=other", 200, 150)]
    [InlineData("?width=2000", 400, 300)]
    public async Task Post_Png_GivesItsThumbnail(string query, int width, int height)
    {
        await using RunningService service = await RunningService.StartAsync();

        using HttpResponseMessage response = await service.PostAsync(ServicePictures.Png(400, 300), query);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal("image/png", response.Content.Headers.ContentType?.MediaType);
        Assert.Equal(new PictureSize(width, height), await ReadSizeAsync(response));
    }

    [Fact]
    public async Task Post_JpegAndWebP_GiveTheirThumbnails()
    {
        await using RunningService service = await RunningService.StartAsync();
        foreach ((string type, byte[] picture) in new[] { ("jpeg", ServicePictures.Jpeg(64, 48)), ("webp", ServicePictures.WebP(64, 48)) })
        {
            using HttpResponseMessage response = await service.PostAsync(picture, "?width=16");

            Assert.Equal((HttpStatusCode.OK, $"image/{type}"), (response.StatusCode, response.Content.Headers.ContentType?.MediaType));
            Assert.Equal(new PictureSize(16, 12), await ReadSizeAsync(response));
        }

        await service.UntilNothingIsOutstandingAsync();
    }

    [Fact]
    public async Task Post_MoreAtOnceThanFit_AnswersAllWithinTheBudget()
    {
        await using RunningService service = await RunningService.StartAsync();
        byte[] picture = ServicePictures.Png(2000, 1500);

        HttpResponseMessage[] responses = await Task.WhenAll(Enumerable.Range(0, 24).Select(_ => service.PostAsync(picture)));

        Assert.All(responses, response => Assert.Equal(HttpStatusCode.OK, response.StatusCode));
        Assert.InRange(service.Allocator.GetStatistics().PeakCommittedBytes, 1, RunningService.BudgetMegabytes << 20);
        await service.UntilNothingIsOutstandingAsync();
    }

    [Fact]
    public async Task Post_ClientGoesWhileItWaits_LeavesNothingTaken()
    {
        await using RunningService service = await RunningService.StartAsync();
        MemoryReservation others = await service.Allocator.ReserveAsync((long)RunningService.BudgetMegabytes << 20);
        using CancellationTokenSource client = new();
        Task<HttpResponseMessage> gone = service.PostAsync(ServicePictures.Png(400, 300), cancellationToken: client.Token);
        await service.UntilWaitingAsync(requests: 1);

        await client.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => gone);
        others.Dispose();

        using HttpResponseMessage next = await service.PostAsync(ServicePictures.Png(400, 300));
        Assert.Equal(HttpStatusCode.OK, next.StatusCode);

        // The service may hear of the client's end when its request has been let in: then it is done all the same.
        await service.UntilNothingIsOutstandingAsync();
    }

    [Fact]
    public async Task Post_PictureThatNeverFits_IsRefusedAtOnce()
    {
        await using RunningService service = await RunningService.StartAsync();

        using HttpResponseMessage response = await service.PostAsync(ServicePictures.Png(5000, 3000));

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(200)]
    public async Task Post_TruncatedPicture_IsRefusedAndLeavesNothing(int length)
    {
        await using RunningService service = await RunningService.StartAsync();

        using HttpResponseMessage response = await service.PostAsync(ServicePictures.Png(400, 300)[..length]);

        Assert.Equal(HttpStatusCode.UnprocessableEntity, response.StatusCode);
        await service.UntilNothingIsOutstandingAsync();
    }

    /// <summary>Nothing is rented for a bomb: it is known by its header, before it is read, let alone decoded.</summary>
    [Fact]
    public async Task Post_Bombs_AreRefusedBeforeAnythingIsAllocated()
    {
        await using RunningService service = await RunningService.StartAsync();
        IReadOnlyList<UploadFile> bombs = Bombs.Make();
        Assert.Equal(3, bombs.Count);

        foreach (UploadFile bomb in bombs)
        {
            Assert.InRange(bomb.Data.Length, 1, 400_000);
            using HttpResponseMessage response = await service.PostAsync(bomb.Data);

            int expected = bomb.Name == "flat.png" ? 413 : 422;
            Assert.Equal((bomb.Name, expected), (bomb.Name, (int)response.StatusCode));
        }

        Assert.Equal(0, service.Allocator.GetStatistics().Rents);
    }

    /// <summary>An estimate parses what strangers send: it is refused or admitted, and never an error of the service.</summary>
    [Fact]
    public async Task Post_DamagedHeaders_AreNeverErrorsOfTheService()
    {
        await using RunningService service = await RunningService.StartAsync();
        Random random = new(7);
        foreach (byte[] good in (byte[][])[ServicePictures.Png(64, 48), ServicePictures.Jpeg(64, 48), ServicePictures.WebP(64, 48)])
        {
            for (int i = 0; i < 150; i++)
            {
                byte[] bad = [.. good];
                for (int changes = random.Next(1, 5); changes > 0; changes--)
                {
                    bad[random.Next(2, Math.Min(bad.Length, 200))] = (byte)random.Next(256);
                }

                using HttpResponseMessage response = await service.PostAsync(bad[..random.Next(3, bad.Length)]);
                Assert.True((int)response.StatusCode is 200 or 413 or 422, $"{response.StatusCode} for {Convert.ToHexString(bad)}");
            }
        }

        await service.UntilNothingIsOutstandingAsync();
    }

    [Fact]
    public async Task Get_HealthAndMetrics_HaveTheAllocator()
    {
        await using RunningService service = await RunningService.StartAsync();
        using HttpResponseMessage thumbnail = await service.PostAsync(ServicePictures.Png(400, 300));

        // Degraded on a machine that is 90 % full.
        Assert.Contains(await service.GetAsync("/health"), (string[])["Healthy", "Degraded"]);
        string metrics = await service.GetAsync("/metrics");

        Assert.Contains("allocator_budget_limit_bytes", metrics, StringComparison.Ordinal);
        Assert.Contains("allocator_admission_duration_milliseconds_bucket", metrics, StringComparison.Ordinal);
        Assert.Contains("allocator_name=\"thumbnails\"", metrics, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Post_Unprotected_IsNotAdmittedByMemory()
    {
        await using RunningService service = await RunningService.StartAsync(isProtected: false);
        using MemoryReservation others = await service.Allocator.ReserveAsync((long)RunningService.BudgetMegabytes << 20);

        using HttpResponseMessage response = await service.PostAsync(ServicePictures.Png(400, 300));

        Assert.Equal(HttpStatusCode.InternalServerError, response.StatusCode);
    }

    private static async Task<PictureSize> ReadSizeAsync(HttpResponseMessage response)
    {
        byte[] file = await response.Content.ReadAsByteArrayAsync();
        return SourceHeader.Read(file, file.Length).Size;
    }
}
