using System;
using System.IO;
using LoadResizeSave.Codecs;
using LoadResizeSave.Pixels;
using LoadResizeSave.Resizing;

namespace LoadResizeSave.Running;

/// <summary>The main job for one picture: read, decode, resize, encode, write. Safe for concurrent callers.</summary>
internal sealed class PicturePipeline
{
    private readonly JobOptions _options;
    private readonly PictureCodecs _codecs;
    private readonly PixelStore _store;
    private readonly string _outputFolder;

    /// <summary>Prepares for pictures that go to <paramref name="outputFolder"/>.</summary>
    public PicturePipeline(JobOptions options, PictureCodecs codecs, PixelStore store, string outputFolder)
    {
        _options = options;
        _codecs = codecs;
        _store = store;
        _outputFolder = outputFolder;
    }

    /// <summary>Takes the picture <paramref name="name"/> of <paramref name="folder"/> all the way.</summary>
    /// <exception cref="UnreadablePictureException">It cannot be decoded, or is too large.</exception>
    public SavedPicture Process(string folder, string name)
    {
        using PictureFile file = PictureFile.Read(Path.Combine(folder, name), _store);
        IPictureCodec codec = _codecs.Recognize(file.Data.Span);
        PictureSize size = codec.ReadSize(file.Data);
        if (size.Megapixels > _options.MaximumMegapixels)
        {
            throw new UnreadablePictureException(
                $"the header claims {size.Width} x {size.Height} pixels, {size.Megapixels:N0} million; the limit is {_options.MaximumMegapixels} million");
        }

        if (!codec.CouldHoldItsPixels(file.Data))
        {
            throw new UnreadablePictureException($"the header claims {size.Width} x {size.Height} pixels, more than {file.Data.Length:N0} bytes can hold");
        }

        PictureSize targetSize = Fit(size, _options.Width);
        using Raster<Rgb24> target = _store.AllocatePixels<Rgb24>(targetSize.Width, targetSize.Height, codec.NeedsContiguousPixels);
        Decode(codec, file.Data, size, target);
        return new SavedPicture(name, size.Pixels, Save(codec, target, OutputName(name, codec)));
    }

    // A method of its own, so that the large picture is back before the small one is encoded.
    private void Decode(IPictureCodec codec, ReadOnlyMemory<byte> file, PictureSize size, Raster<Rgb24> target)
    {
        using Raster<Rgb24> source = _store.AllocatePixels<Rgb24>(size.Width, size.Height, codec.NeedsContiguousPixels);
        codec.Decode(file, source, _store);
        LanczosResizer.Resize(source, target, _store);
    }

    private string Save(IPictureCodec codec, Raster<Rgb24> picture, string name)
    {
        string path = Path.Combine(_outputFolder, name);
        _ = Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        using HashingFileStream file = new(path);
        codec.Encode(picture, file, _store);
        return file.GetHash();
    }

    private static PictureSize Fit(PictureSize size, int width)
        => size.Width <= width
            ? size
            : new PictureSize(width, (int)Math.Max(1, Math.Round((double)size.Height * width / size.Width, MidpointRounding.AwayFromZero)));

    // A PNG that is called .jpg must not be saved under a name that lies too.
    private static string OutputName(string name, IPictureCodec codec)
    {
        bool isPng = Path.GetExtension(name).Equals(".png", StringComparison.OrdinalIgnoreCase);
        return isPng == (codec.Extension == ".png") ? name : name + codec.Extension;
    }
}
