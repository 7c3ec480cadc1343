using SkiaSharp;

namespace LoadResizeSave.Tests.Containers;

/// <summary>A small PNG and JPEG in a folder that is removed when disposed.</summary>
internal sealed class PictureFiles : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("contained-tests-");

    public PictureFiles()
    {
        foreach (SKEncodedImageFormat format in new[] { SKEncodedImageFormat.Png, SKEncodedImageFormat.Jpeg })
        {
            string path = Path.Combine(_folder.FullName, "a" + SourceHeader.ExtensionOf(format));
            SyntheticSet.MakeOne(path, seed: 1, new PictureSize(640, 400), format);
        }
    }

    public string[] Paths => Directory.GetFiles(_folder.FullName);

    public void Dispose() => _folder.Delete(recursive: true);
}
