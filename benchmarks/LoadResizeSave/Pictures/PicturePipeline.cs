using SkiaSharp;

namespace LoadResizeSave.Pictures;

/// <summary>The main job for one picture: read, decode, resize, encode, write. Safe for concurrent callers.</summary>
internal sealed class PicturePipeline(PixelStore store, string outputFolder)
{
    /// <summary>Pictures whose header claims more are refused before their pixels are allocated.</summary>
    public const int MaximumMegapixels = 256;

    /// <summary>Processes <paramref name="name"/> of <paramref name="folder"/>. Waits asynchronously until the store admits it.</summary>
    public async ValueTask<SavedPicture> ProcessAsync(string folder, string name, CancellationToken cancellationToken = default)
    {
        using PictureFile file = PictureFile.Open(Path.Combine(folder, name));
        SourceHeader header = file.ReadHeader();
        header.Check(MaximumMegapixels);
        PictureSize target = header.Size.FitWidth(JobOptions.Width);
        using Admission admission = await store.AdmitAsync(header.Estimate(target, store), cancellationToken);
        using IMemoryOwner<byte> data = file.Read(admission.Store);
        using Raster picture = header.Resize(data.Memory, target, admission.Store);
        return new SavedPicture(name, header.Size.Pixels, Save(picture, header, name));
    }

    /// <summary>Encodes <paramref name="picture"/> to <paramref name="destination"/>, and returns the hash of the file.</summary>
    public static string Encode(Raster picture, SKEncodedImageFormat format, Stream destination)
    {
        using SHA256 hash = SHA256.Create();
        using CryptoStream stream = new(destination, hash, CryptoStreamMode.Write);
        picture.Encode(stream, format);
        stream.FlushFinalBlock();
        return Convert.ToHexStringLower(hash.Hash!);
    }

    private string Save(Raster picture, SourceHeader header, string name)
    {
        // A PNG that is called .jpg must not be saved under a name that lies too.
        bool isPng = Path.GetExtension(name).Equals(".png", StringComparison.OrdinalIgnoreCase);
        string path = Path.Combine(outputFolder, isPng == (header.Format == SKEncodedImageFormat.Png) ? name : name + header.Extension);
        _ = Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        return Encode(picture, header.Format, File.Create(path));
    }
}
