using SkiaSharp;

namespace LoadResizeSave.Synthesis;

/// <summary>
/// Makes photographs if none were given, and two more files that no decoder should accept, so that every run shows that they are refused.
/// A finished set is kept and used again.
/// </summary>
/// <param name="megapixels">The size of each photograph, in millions of pixels; null: sizes of cameras and screens.</param>
internal sealed class SyntheticSet(int count, double? megapixels)
{
    // To be changed with the pictures: sets of an earlier version are not used.
    private const int Version = 2;
    private const int ClaimedSide = 1_000_000;
    private const int Quality = 90;

    // Those at odd places become PNGs, which cost more than twice as much to read, or WebP.
    private static readonly PictureSize[] s_sizes =
    [
        new(6000, 4000), new(4032, 3024), new(5472, 3648), new(3840, 2160), new(4000, 6000), new(5120, 2880), new(4928, 3264),
        new(3024, 4032),
    ];

    public string FolderIn(string work)
    {
        string size = megapixels is { } given ? Invariant($"{given:0.##}mp") : "mixed";
        return Path.Combine(work, $"photographs-{count}-{size}-v{Version}");
    }

    public void Make(string folder, Action<int, int> onProgress, CancellationToken cancellationToken)
    {
        if (Directory.Exists(folder))
        {
            return;
        }

        // Moved when complete, so that a set that was interrupted is never used.
        string unfinished = folder + ".unfinished";
        _ = Directory.CreateDirectory(unfinished);
        int done = 0;
        _ = Parallel.For(0, count, new ParallelOptions { CancellationToken = cancellationToken }, i =>
        {
            MakeOne(i, unfinished);
            onProgress(Interlocked.Increment(ref done), count);
        });
        File.WriteAllBytes(Path.Combine(unfinished, "hostile-header.png"), FlatPng.Make(ClaimedSide, rows: 0));
        string smallest = Directory.EnumerateFiles(unfinished, "photograph-*").MinBy(path => new FileInfo(path).Length)!;
        byte[] whole = File.ReadAllBytes(smallest);
        File.WriteAllBytes(Path.Combine(unfinished, "cut-short" + Path.GetExtension(smallest)), whole[..(whole.Length / 3)]);
        Directory.Move(unfinished, folder);
    }

    /// <summary>Makes one photograph; the same <paramref name="seed"/> results in the same picture.</summary>
    public static void MakeOne(string path, uint seed, PictureSize size, SKEncodedImageFormat format)
    {
        // The largest random difference of single pixels is what makes the PNG of a photograph large and slow.
        Landscape landscape = new(seed, size.Width, size.Height, grain: format == SKEncodedImageFormat.Jpeg ? 5 : 1);
        using SKBitmap picture = new(size.Width, size.Height, SKColorType.Rgba8888, SKAlphaType.Opaque);
        Span<uint> pixels = MemoryMarshal.Cast<byte, uint>(picture.GetPixelSpan());
        for (int y = 0; y < size.Height; y++)
        {
            landscape.DrawRow(y, pixels.Slice(y * size.Width, size.Width));
        }

        using FileStream file = File.Create(path);
        SkiaSharpMemory.Encode(picture, file, format, Quality);
    }

    private void MakeOne(int index, string folder)
    {
        PictureSize size = s_sizes[index % s_sizes.Length];
        if (megapixels is { } given)
        {
            double factor = Math.Sqrt(given / size.Megapixels);
            size = new PictureSize(Math.Max(1, (int)(size.Width * factor)), Math.Max(1, (int)(size.Height * factor)));
        }

        SKEncodedImageFormat format = (index % 4) switch
        {
            1 => SKEncodedImageFormat.Png,
            3 => SKEncodedImageFormat.Webp,
            _ => SKEncodedImageFormat.Jpeg,
        };
        string name = $"photograph-{index + 1:00}-{size.Width}x{size.Height}{SourceHeader.ExtensionOf(format)}";
        MakeOne(Path.Combine(folder, name), (uint)(index * 7919) + 1, size, format);
    }
}
