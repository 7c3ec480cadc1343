using System.Net;

namespace ThumbnailService.Tests;

public sealed class ThumbnailEndpointTests
{
    private const int BudgetMegabytes = 32;

    private static readonly PictureCodecs s_codecs = new(useLibjpeg: true);

    [Theory]
    [InlineData("?width=40", 40, 30)]
    [InlineData("", 200, 150)]
    [InlineData("?width=0", 200, 150)]
    [InlineData("?width=other", 200, 150)]
    [InlineData("?width=2000", 400, 300)]
    public async Task Post_Png_GivesItsThumbnail(string query, int width, int height)
    {
        await using RunningService service = await RunningService.StartAsync(budgetMegabytes: null);

        using HttpResponseMessage response = await service.PostAsync(Picture(400, 300), query);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal("image/png", response.Content.Headers.ContentType?.MediaType);
        Assert.Equal(new PictureSize(width, height), s_codecs.Png.ReadSize(await response.Content.ReadAsByteArrayAsync()));
    }

    [Fact]
    public async Task Post_MoreAtOnceThanFit_AnswersAllWithinTheBudget()
    {
        await using RunningService service = await RunningService.StartAsync(BudgetMegabytes);
        byte[] picture = Picture(2000, 1500);

        HttpResponseMessage[] responses = await Task.WhenAll(Enumerable.Range(0, 24).Select(_ => service.PostAsync(picture)));

        Assert.All(responses, response => Assert.Equal(HttpStatusCode.OK, response.StatusCode));
        Assert.InRange(service.Store.Statistics!.Value.PeakCommittedBytes, 1, BudgetMegabytes << 20);
        Assert.Equal((0, 0), (service.Store.Statistics!.Value.OutstandingAllocations, service.Store.Statistics!.Value.BudgetUsedBytes));
    }

    [Fact]
    public async Task Post_BudgetTaken_WaitsUntilItIsBack()
    {
        await using RunningService service = await RunningService.StartAsync(BudgetMegabytes);
        Admission others = await service.Store.AdmitAsync(BudgetMegabytes << 20, CancellationToken.None);

        Task<HttpResponseMessage> answer = service.PostAsync(Picture(400, 300));
        await service.UntilWaitingAsync(requests: 1);
        Assert.False(answer.IsCompleted);
        others.Dispose();

        using HttpResponseMessage response = await answer;
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
    }

    [Fact]
    public async Task Post_ClientGoesWhileItWaits_LeavesNothingTaken()
    {
        await using RunningService service = await RunningService.StartAsync(BudgetMegabytes);
        Admission others = await service.Store.AdmitAsync(BudgetMegabytes << 20, CancellationToken.None);
        using CancellationTokenSource client = new();
        Task<HttpResponseMessage> gone = service.Client.PostAsync(
            new Uri("/thumbnails", UriKind.Relative), new ByteArrayContent(Picture(400, 300)), client.Token);
        await service.UntilWaitingAsync(requests: 1);

        await client.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => gone);
        others.Dispose();

        using HttpResponseMessage next = await service.PostAsync(Picture(400, 300));
        Assert.Equal(HttpStatusCode.OK, next.StatusCode);

        // The service may hear of the client's end when its request has been let in: then it is done all the same.
        await service.UntilNothingIsOutstandingAsync();
    }

    [Fact]
    public async Task Post_PictureThatNeverFits_IsRefusedAtOnce()
    {
        await using RunningService service = await RunningService.StartAsync(BudgetMegabytes);

        using HttpResponseMessage response = await service.PostAsync(Picture(5000, 3000));

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, response.StatusCode);
        Assert.Contains("budget", await response.Content.ReadAsStringAsync(), StringComparison.OrdinalIgnoreCase);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(200)]
    public async Task Post_CutPicture_IsRefusedAndNothingStaysOut(int length)
    {
        await using RunningService service = await RunningService.StartAsync(BudgetMegabytes);

        using HttpResponseMessage response = await service.PostAsync(Picture(400, 300)[..length]);

        Assert.Equal(HttpStatusCode.UnprocessableEntity, response.StatusCode);
        Assert.Equal((0, 0), (service.Store.Statistics!.Value.OutstandingAllocations, service.Store.Statistics!.Value.BudgetUsedBytes));
    }

    [Fact]
    public async Task Post_WithoutLength_IsRefused()
    {
        await using RunningService service = await RunningService.StartAsync(budgetMegabytes: null);
        using HttpRequestMessage request = new(HttpMethod.Post, "/thumbnails")
        {
            Content = new StreamContent(new MemoryStream(Picture(40, 30))),
        };
        request.Headers.TransferEncodingChunked = true;

        using HttpResponseMessage response = await service.Client.SendAsync(request);

        Assert.Equal(HttpStatusCode.LengthRequired, response.StatusCode);
    }

    private static byte[] Picture(int width, int height)
    {
        using PixelStore store = PixelStore.Create(AllocatorKind.Unpooled, TimeSpan.FromMinutes(1));
        using Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(width, height, contiguous: false);
        picture.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                for (int x = 0; x < rows.Width; x++)
                {
                    rows[y][x] = new Rgb24((byte)x, (byte)y, (byte)(x ^ y));
                }
            }
        });
        using MemoryStream file = new();
        s_codecs.Png.Encode(picture, file, store);
        return file.ToArray();
    }
}
