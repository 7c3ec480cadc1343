using SkiaSharp;

namespace LoadResizeSave.Tests;

/// <summary>The job in a budget: what it estimates is enough, and what does not fit waits.</summary>
public sealed class BudgetTests : IDisposable
{
    private const int BudgetMegabytes = 64;
    private const long BudgetInBytes = BudgetMegabytes << 20;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("budget-tests-");
    private readonly PixelStore _store = new BlockStore(
        new MemoryAllocatorOptions { MemoryBudgetMegabytes = BudgetMegabytes, MaximumPoolSizeMegabytes = BudgetMegabytes },
        JobReservation.Estimated);

    [Theory]
    [InlineData("large.png", 3000, 2000)]
    [InlineData("wide.png", 20000, 3)]
    [InlineData("small.png", 30, 20)]
    [InlineData("large.jpg", 3000, 2000)]
    [InlineData("tall.jpg", 3, 20000)]
    public async Task ProcessAsync_NoMoreLeftThanTheEstimate_IsEnough(string name, int width, int height)
    {
        Write(name, width, height);
        using Admission others = await _store.AdmitAsync(BudgetInBytes - Estimate(name), CancellationToken.None);

        SavedPicture saved = await Pipeline().ProcessAsync(_folder.FullName, name);

        Assert.Equal((long)width * height, saved.SourcePixels);
        Assert.Equal(0, _store.Statistics!.Value.BudgetWaits);
    }

    [Fact]
    public async Task ProcessAsync_BudgetTaken_WaitsWithoutAThreadUntilItIsReturned()
    {
        Write("a.png", 300, 200);
        Admission others = await _store.AdmitAsync(BudgetInBytes, CancellationToken.None);

        Task<SavedPicture> picture = Pipeline().ProcessAsync(_folder.FullName, "a.png").AsTask();
        bool waited = !picture.IsCompleted;
        others.Dispose();
        SavedPicture saved = await picture;

        Assert.True(waited);
        Assert.Equal(60_000, saved.SourcePixels);
        Assert.Equal(1, _store.Statistics!.Value.BudgetWaits);
    }

    [Fact]
    public async Task ProcessAsync_ManyMoreAtOnceThanFit_AllAreSavedWithinTheBudget()
    {
        Write("a.png", 3000, 2000);
        Assert.True(12 * Estimate("a.png") > 3 * BudgetInBytes);

        SavedPicture[] saved = await Task.WhenAll(Enumerable.Range(0, 12).Select(
            i => Task.Run(() => Pipeline(i).ProcessAsync(_folder.FullName, "a.png").AsTask())));

        Assert.Single(saved.Select(picture => picture.Sha256).Distinct());
        Assert.InRange(_store.Statistics!.Value.PeakCommittedBytes, 1, BudgetInBytes);
        Assert.Equal((0, 0), (_store.Statistics!.Value.BudgetUsedBytes, _store.Statistics!.Value.OutstandingAllocations));
    }

    [Fact]
    public async Task ProcessAsync_CancelledWhileItWaits_TakesNothing()
    {
        Write("a.png", 300, 200);
        using CancellationTokenSource cancellation = new();
        using Admission others = await _store.AdmitAsync(BudgetInBytes, CancellationToken.None);
        Task<SavedPicture> picture = Pipeline().ProcessAsync(_folder.FullName, "a.png", cancellation.Token).AsTask();

        cancellation.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => picture);
        Assert.Equal(BudgetInBytes, _store.Statistics!.Value.BudgetUsedBytes);
    }

    public void Dispose()
    {
        _store.Dispose();
        _folder.Delete(recursive: true);
    }

    private void Write(string name, int width, int height)
    {
        SKEncodedImageFormat format =
            Path.GetExtension(name) == ".jpg" ? SKEncodedImageFormat.Jpeg : SKEncodedImageFormat.Png;
        File.WriteAllBytes(Path.Combine(_folder.FullName, name), Pictures.File(width, height, format));
    }

    private long Estimate(string name)
    {
        using PictureFile file = PictureFile.Open(Path.Combine(_folder.FullName, name));
        SourceHeader header = file.ReadHeader();
        return header.Estimate(header.Size.FitWidth(JobOptions.Width), _store);
    }

    private PicturePipeline Pipeline(int number = 0) => new(_store, Path.Combine(_folder.FullName, "out", $"{number}"));
}
