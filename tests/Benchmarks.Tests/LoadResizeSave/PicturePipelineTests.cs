using SkiaSharp;

namespace LoadResizeSave.Tests;

public sealed class PicturePipelineTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("load-resize-save-tests-");
    private readonly PixelStore _store = Pictures.Store();

    [Fact]
    public async Task ProcessAsync_PngWithWrongEnding_IsSavedUnderAnHonestName()
    {
        Write(Path.Combine("in", "sub", "picture.jpg"), Pictures.File(40, 20, SKEncodedImageFormat.Png));

        SavedPicture saved = await Pipeline().ProcessAsync(In, Path.Combine("sub", "picture.jpg"));

        byte[] file = File.ReadAllBytes(Path.Combine(_folder.FullName, "out", "sub", "picture.jpg.png"));
        Assert.Equal(new PictureSize(40, 20), SourceHeader.Read(file, file.Length).Size);
        Assert.Equal(800, saved.SourcePixels);
        Assert.Equal(Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(file)), saved.Sha256);
    }

    [Fact]
    public async Task ProcessAsync_HeaderAboveTheLimit_IsRefusedBeforeAnythingIsAllocated()
    {
        Write(Path.Combine("in", "large.png"), FlatPng.Make(17_000, rows: 1));

        UnreadablePictureException exception = await Assert.ThrowsAsync<UnreadablePictureException>(
            () => Pipeline().ProcessAsync(In, "large.png").AsTask());

        Assert.Contains("limit is 256 million", exception.Message, StringComparison.Ordinal);
        Assert.Equal(0, _store.Statistics!.Value.Rents);
        Pictures.AssertNothingIsOut(_store);
    }

    [Theory]
    [InlineData(new byte[0])]
    [InlineData(new byte[] { 1 })]
    [InlineData(new byte[] { (byte)'G', (byte)'I', (byte)'F', (byte)'8', (byte)'9', (byte)'a' })]
    public async Task ProcessAsync_NoPicture_IsRefused(byte[] file)
    {
        Write(Path.Combine("in", "file.png"), file);

        await Assert.ThrowsAsync<UnreadablePictureException>(() => Pipeline().ProcessAsync(In, "file.png").AsTask());
        Pictures.AssertNothingIsOut(_store);
    }

    [Fact]
    public void Find_FolderWithSubfolders_GivesPicturesInOrder()
    {
        foreach (string name in (string[])["b.PNG", "a.jpg", "c.txt", Path.Combine("a", "b.png")])
        {
            Write(Path.Combine("in", name), [0]);
        }

        Assert.Equal(["a.jpg", Path.Combine("a", "b.png"), "b.PNG"], PictureFolder.Find(In));
    }

    [Fact]
    public void Find_ExcludedFolder_IsLeftOut()
    {
        Write(Path.Combine("in", "a.png"), [0]);
        Write(Path.Combine("in", "out", "saved", "a.png"), [0]);

        Assert.Equal(["a.png"], PictureFolder.Find(In, Path.Combine(In, "out")));
    }

    public void Dispose()
    {
        _store.Dispose();
        _folder.Delete(recursive: true);
    }

    private string In => Path.Combine(_folder.FullName, "in");

    private void Write(string name, byte[] data)
    {
        string path = Path.Combine(_folder.FullName, name);
        _ = Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllBytes(path, data);
    }

    private PicturePipeline Pipeline() => new(_store, Path.Combine(_folder.FullName, "out"));
}
