using LoadResizeSave.Running;

namespace ThumbnailService.Loading;

/// <summary>A picture that clients send.</summary>
internal sealed record UploadFile(string Name, byte[] Data)
{
    /// <summary>Reads the pictures of <paramref name="folder"/>, in an order that is the same everywhere.</summary>
    public static IReadOnlyList<UploadFile> ReadAll(string folder)
        => [.. PictureFolder.Find(folder).Select(name => new UploadFile(name, File.ReadAllBytes(Path.Combine(folder, name))))];
}
