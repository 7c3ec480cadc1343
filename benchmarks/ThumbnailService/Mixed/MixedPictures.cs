using SkiaSharp;

namespace ThumbnailService.Mixed;

/// <summary>Photographs of 15 megapixels, some of them progressive, and small pictures, in one folder.</summary>
internal sealed class MixedPictures
{
    private const double LeastMegapixels = 14;
    private const int Quality = 85;

    // Small pictures of one width differ, as those of users do.
    private const int SmallOnes = 8;

    private static readonly SKSamplingOptions s_sampling = new(SKFilterMode.Linear, SKMipmapMode.Linear);

    private MixedPictures(string folder, string origin, IReadOnlyList<string> large, IReadOnlyList<string> progressive)
    {
        Folder = folder;
        Origin = origin;
        Large = large;
        Progressive = progressive;
    }

    public string Folder { get; }

    public string Origin { get; }

    /// <summary>Gets the names of the photographs.</summary>
    public IReadOnlyList<string> Large { get; }

    /// <summary>Gets the names of two of them, made progressive: decoding those takes twice the memory.</summary>
    public IReadOnlyList<string> Progressive { get; }

    public static MixedPictures Get(string? input)
    {
        string work = Path.Combine(ContainerOptions.WorkFolder, "mixed-sizes");
        _ = Directory.CreateDirectory(work);
        (IReadOnlyList<string> paths, string origin) = new ContainerPictures(input, ContainerOptions.WorkFolder).GetPhotographs();
        List<string> sources = [.. paths.Where(IsLarge)];
        if (sources.Count == 0)
        {
            throw new IOException($"Of {origin} none has {LeastMegapixels} megapixels or more.");
        }

        List<string> large = [
            .. sources.Select((source, i) => Make(work, Invariant($"large-{i}.jpg"), target => Shrink(source, target, width: null)))];
        return new MixedPictures(
            work, $"{large.Count} of {LeastMegapixels} megapixels or more, of {origin}", large,
            [.. large.Take(2).Select(name => Make(work, "progressive-" + name, target =>
                UploadSet.MakeProgressive(Path.Combine(work, name), target)))]);
    }

    /// <summary>Returns the names of pictures of that width, made of the photographs.</summary>
    public IReadOnlyList<string> GetSmall(int width) =>
    [
        .. Enumerable.Range(0, SmallOnes).Select(i => Make(Folder, Invariant($"small-{width}-{i}.jpg"), target =>
            Shrink(Path.Combine(Folder, Large[i % Large.Count]), target, width + (8 * i)))),
    ];

    // Skia's JPEGs are baseline ones of one scan.
    private static void Shrink(string source, string target, int? width)
    {
        using SKBitmap picture = SKBitmap.Decode(source);
        using SKBitmap? small = width is { } pixels
            ? picture.Resize(new SKSizeI(pixels, pixels * picture.Height / picture.Width), s_sampling)
            : null;
        using SKData encoded = (small ?? picture).Encode(SKEncodedImageFormat.Jpeg, Quality);
        File.WriteAllBytes(target, encoded.ToArray());
    }

    private static bool IsLarge(string path)
    {
        using PictureFile file = PictureFile.Open(path);
        return file.ReadHeader().Size.Megapixels >= LeastMegapixels;
    }

    private static string Make(string folder, string name, Action<string> write)
    {
        ContainerPictures.MakeOnce(Path.Combine(folder, name), write);
        return name;
    }
}
