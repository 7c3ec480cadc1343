namespace LoadResizeSave.Pictures;

/// <summary>The main job for one picture: read, decode, resize, encode, write. Safe for concurrent callers.</summary>
internal sealed class PicturePipeline(PictureCodecs codecs, PixelStore store, string outputFolder)
{
    /// <summary>Pictures whose header claims more are refused before their pixels are allocated.</summary>
    public const int MaximumMegapixels = 256;

    /// <summary>
    /// Takes the picture <paramref name="name"/> of <paramref name="folder"/> all the way. Waits asynchronously until the store admits it.
    /// </summary>
    public async ValueTask<SavedPicture> ProcessAsync(string folder, string name, CancellationToken cancellationToken = default)
    {
        using PictureFile file = PictureFile.Open(Path.Combine(folder, name));
        PictureHeader header = file.ReadHeader(codecs);
        header.Check(MaximumMegapixels);
        PictureSize target = PictureReduction.Fit(header.Size, JobOptions.Width);
        using Admission admission = await store.AdmitAsync(header.Estimate(target, store), cancellationToken);
        using IMemoryOwner<byte> data = file.Read(admission.Store);
        using Raster<Rgb24> picture = PictureReduction.Reduce(header, data.Memory, target, admission.Store);
        return new SavedPicture(name, header.Size.Pixels, Save(header.Codec, picture, name, admission.Store));
    }

    private string Save(IPictureCodec codec, Raster<Rgb24> picture, string name, PixelStore store)
    {
        // A PNG that is called .jpg must not be saved under a name that lies too.
        bool isPng = Path.GetExtension(name).Equals(".png", StringComparison.OrdinalIgnoreCase);
        string path = Path.Combine(outputFolder, isPng == (codec.Extension == ".png") ? name : name + codec.Extension);
        _ = Directory.CreateDirectory(Path.GetDirectoryName(path)!);

        // Codecs write whole chunks, so a buffer of the file's own would only be copied through.
        using HashingStream file = new(new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, bufferSize: 0));
        codec.Encode(picture, file, store);
        return file.GetHash();
    }
}
