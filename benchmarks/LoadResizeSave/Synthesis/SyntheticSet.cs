namespace LoadResizeSave.Synthesis;

/// <summary>
/// Makes photographs where none were given, and beside them two files that no decoder should accept, so that every run shows that they are
/// refused. A finished set is kept and used again.
/// </summary>
/// <param name="megapixels">The size of each, in millions of pixels; null: sizes of cameras and screens.</param>
internal sealed class SyntheticSet(int count, double? megapixels, PictureCodecs codecs)
{
    // A change to the pictures must change this, or sets that lie about would be taken for the new one.
    private const int Version = 1;
    private const int ClaimedSide = 1_000_000;

    // Sizes of cameras and screens. Those at odd places become PNGs, which cost more than twice as much to read, or WebP.
    private static readonly (int Width, int Height)[] s_sizes =
    [
        (6000, 4000), (4032, 3024), (5472, 3648), (3840, 2160), (4000, 6000), (5120, 2880), (4928, 3264), (3024, 4032),
    ];

    public string FolderIn(string work)
    {
        string size = megapixels is { } given ? Invariant($"{given:0.##}mp") : "mixed";
        return Path.Combine(work, $"photographs-{count}-{size}-{Formats()}-v{Version}");
    }

    private string Formats() => codecs.WriterOfJpeg is null ? "png" : codecs.WriterOfWebP is null ? "jpeg-png" : "jpeg-png-webp";

    public void Make(string folder, Action<int, int> onProgress, CancellationToken cancellationToken)
    {
        if (Directory.Exists(folder))
        {
            return;
        }

        // Made elsewhere and moved when complete, so that a set that was interrupted is never taken for a whole one.
        string unfinished = folder + ".unfinished";
        _ = Directory.CreateDirectory(unfinished);
        int done = 0;
        using (AlignedStore store = new())
        {
            _ = Parallel.For(0, count, new ParallelOptions { CancellationToken = cancellationToken }, i =>
            {
                MakeOne(i, unfinished, store);
                onProgress(Interlocked.Increment(ref done), count);
            });
        }

        MakeUnwelcomeFiles(unfinished);
        Directory.Move(unfinished, folder);
    }

    /// <summary>
    /// Makes one photograph. The same <paramref name="seed"/> gives the same picture; <paramref name="grain"/> is the largest random
    /// difference of single pixels: it is what makes a PNG of a photograph large and slow.
    /// </summary>
    public static void MakeOne(string path, uint seed, PictureSize size, int grain, IPictureCodec codec, PixelStore store)
    {
        Landscape landscape = new(seed, size.Width, size.Height, grain);
        using Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(size.Width, size.Height, codec.NeedsContiguousPixels);
        picture.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                landscape.DrawRow(y, rows[y]);
            }
        });
        using FileStream file = File.Create(path);
        codec.Encode(picture, file, store);
    }

    private void MakeOne(int index, string folder, PixelStore store)
    {
        (int width, int height) = s_sizes[index % s_sizes.Length];
        if (megapixels is { } given)
        {
            double factor = Math.Sqrt(given * 1e6 / ((double)width * height));
            (width, height) = (Math.Max(1, (int)(width * factor)), Math.Max(1, (int)(height * factor)));
        }

        bool png = codecs.WriterOfJpeg is null || index % 2 == 1;
        IPictureCodec codec = png && index % 4 == 3 && codecs.WriterOfWebP is { } webP ? webP : png ? codecs.Png : codecs.WriterOfJpeg!;
        string path = Path.Combine(folder, $"photograph-{index + 1:00}-{width}x{height}{codec.Extension}");
        MakeOne(path, (uint)(index * 7919) + 1, new PictureSize(width, height), png ? 1 : 5, codec, store);
    }

    private static void MakeUnwelcomeFiles(string folder)
    {
        using (FileStream bomb = File.Create(Path.Combine(folder, "hostile-header.png")))
        {
            PngEncoder.WriteHeader(bomb, ClaimedSide, ClaimedSide);
            PngEncoder.WriteChunk(bomb, PngChunk.End, []);
        }

        string smallest = Directory.EnumerateFiles(folder, "photograph-*").MinBy(path => new FileInfo(path).Length)!;
        byte[] whole = File.ReadAllBytes(smallest);
        File.WriteAllBytes(Path.Combine(folder, "cut-short" + Path.GetExtension(smallest)), whole[..(whole.Length / 3)]);
    }
}
