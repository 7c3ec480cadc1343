using System.Buffers;
using LoadResizeSave.Pictures;

namespace LoadResizeSave.Running;

/// <summary>The main job for one picture: read, decode, resize, encode, write. Safe for concurrent callers.</summary>
internal sealed class PicturePipeline(JobOptions options, PictureCodecs codecs, PixelStore store, string outputFolder)
{
    private readonly PixelStore _store = store;

    /// <summary>
    /// Takes the picture <paramref name="name"/> of <paramref name="folder"/> all the way. Waits, without a thread, until the store
    /// admits it.
    /// </summary>
    /// <exception cref="UnreadablePictureException">It cannot be decoded, or is too large.</exception>
    public async ValueTask<SavedPicture> ProcessAsync(string folder, string name, CancellationToken cancellationToken = default)
    {
        using PictureFile file = PictureFile.Open(Path.Combine(folder, name));
        PictureHeader header = file.ReadHeader(codecs);
        header.Check(options.MaximumMegapixels);
        PictureSize target = PictureReduction.Fit(header.Size, options.Width);
        using Admission admission = await _store.AdmitAsync(header.Estimate(target, _store), cancellationToken);
        using IMemoryOwner<byte> data = file.Read(admission.Store);
        using Raster<Rgb24> picture = PictureReduction.Reduce(header, data.Memory, target, admission.Store);
        return new SavedPicture(name, header.Size.Pixels, Save(header.Codec, picture, OutputName(name, header.Codec), admission.Store));
    }

    private string Save(IPictureCodec codec, Raster<Rgb24> picture, string name, PixelStore store)
    {
        string path = Path.Combine(outputFolder, name);
        _ = Directory.CreateDirectory(Path.GetDirectoryName(path)!);

        // Codecs write whole chunks, so a buffer of the file's own would only be copied through.
        using HashingStream file = new(new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, bufferSize: 0));
        codec.Encode(picture, file, store);
        return file.GetHash();
    }

    // A PNG that is called .jpg must not be saved under a name that lies too.
    private static string OutputName(string name, IPictureCodec codec)
    {
        bool isPng = Path.GetExtension(name).Equals(".png", StringComparison.OrdinalIgnoreCase);
        return isPng == (codec.Extension == ".png") ? name : name + codec.Extension;
    }
}
