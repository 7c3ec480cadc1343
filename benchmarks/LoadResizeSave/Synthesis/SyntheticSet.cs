namespace LoadResizeSave.Synthesis;

/// <summary>
/// Makes the photographs for those who brought none, and beside them two files that no decoder should accept. A finished set is kept and
/// used again.
/// </summary>
internal static class SyntheticSet
{
    // A change to the pictures must change this, or sets that lie about would be taken for the new one.
    private const int Version = 1;

    // Sizes of cameras and screens. Those at odd places become PNGs, which cost more than twice as much to read.
    private static readonly (int Width, int Height)[] s_sizes =
    [
        (6000, 4000), (4032, 3024), (5472, 3648), (3840, 2160), (4000, 6000), (5120, 2880), (4928, 3264), (3024, 4032),
    ];

    public static string Folder(JobOptions options, PictureCodecs codecs)
    {
        string size = options.SyntheticMegapixels is { } megapixels ? megapixels.ToString("0.##", CultureInfo.InvariantCulture) + "mp" : "mixed";
        string kind = codecs.Jpeg is null ? "png" : "jpeg-png";
        return Path.Combine(options.Work, $"photographs-{options.SyntheticCount}-{size}-{kind}-v{Version}");
    }

    public static void Make(string folder, JobOptions options, PictureCodecs codecs, Action<int, int> onProgress, CancellationToken cancellationToken)
    {
        if (Directory.Exists(folder))
        {
            return;
        }

        // Made elsewhere and moved when complete, so that a set that was interrupted is never taken for a whole one.
        string unfinished = folder + ".unfinished";
        _ = Directory.CreateDirectory(unfinished);
        int done = 0;
        ParallelOptions parallel = new() { MaxDegreeOfParallelism = options.Parallelism, CancellationToken = cancellationToken };
        using (PixelStore store = PixelStore.Create(AllocatorKind.Unpooled, options.TrimPeriod))
        {
            _ = Parallel.For(0, options.SyntheticCount, parallel, i =>
            {
                MakeOne(i, unfinished, options, codecs, store);
                onProgress(Interlocked.Increment(ref done), options.SyntheticCount);
            });
        }

        UnwelcomeFiles.Make(unfinished);
        Directory.Move(unfinished, folder);
    }

    /// <summary>
    /// Makes one photograph. The same <paramref name="seed"/> gives the same picture; <paramref name="grain"/> is the largest random
    /// difference of single pixels.
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

    private static void MakeOne(int index, string folder, JobOptions options, PictureCodecs codecs, PixelStore store)
    {
        (int width, int height) = s_sizes[index % s_sizes.Length];
        if (options.SyntheticMegapixels is { } megapixels)
        {
            double factor = Math.Sqrt(megapixels * 1e6 / ((double)width * height));
            (width, height) = (Math.Max(1, (int)(width * factor)), Math.Max(1, (int)(height * factor)));
        }

        // Grain is what makes a PNG of a photograph large and slow; pictures kept as PNG have little.
        bool png = codecs.Jpeg is null || index % 2 == 1;
        IPictureCodec codec = png ? codecs.Png : codecs.Jpeg!;
        string path = Path.Combine(folder, $"photograph-{index + 1:00}-{width}x{height}{codec.Extension}");
        MakeOne(path, (uint)(index * 7919) + 1, new PictureSize(width, height), png ? 1 : 5, codec, store);
    }
}
