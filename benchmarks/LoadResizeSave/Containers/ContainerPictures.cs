using SkiaSharp;

namespace LoadResizeSave.Containers;

/// <summary>The pictures for jobs in containers: photographs that the system has, or some that are made once.</summary>
internal sealed class ContainerPictures(string? input, string work)
{
    // Debian's package plasma-workspace-wallpapers puts photographs there.
    private const string OfSystem = "/usr/share/wallpapers";

    private const double LeastMegapixels = 8;
    private const double MostMegapixels = 15.5;
    private const int FewestPhotographs = 3;

    // To be changed with the pictures: those of an earlier version are not used.
    private const int Version = 2;

    private static readonly PictureSize[] s_photographs = [
        new(5120, 2880), new(4032, 3024), new(3840, 2160), new(4000, 3000), new(4608, 3072), new(3264, 2448)];

    private static readonly (PictureSize Size, bool IsPng)[] s_mixed =
    [
        (new(5120, 2880), false), (new(800, 600), true), (new(1600, 1200), false), (new(2560, 1600), true), (new(640, 480), false),
        (new(4032, 3024), false), (new(1280, 960), true), (new(3000, 2000), false), (new(3840, 2160), true), (new(2048, 1536), false),
    ];

    /// <summary>Returns the paths of photographs of 8 to 15 megapixels, and where they come from.</summary>
    public (IReadOnlyList<string> Paths, string Origin) GetPhotographs()
    {
        string folder = input ?? OfSystem;
        List<string> found = Directory.Exists(folder) ? [
            .. PictureFolder.Find(folder).Select(name => Path.Combine(folder, name)).Where(IsPhotograph)] : [];
        if (input is not null && found.Count == 0)
        {
            throw new IOException($"{input} has no picture of {LeastMegapixels} to {MostMegapixels} megapixels that can be read.");
        }

        return found.Count > 0 && (input is not null || found.Count >= FewestPhotographs)
            ? (found, $"{found.Count} photographs of {LeastMegapixels} to {MostMegapixels} megapixels in {folder}")
            : (
                Make("photographs", s_photographs.Select(size => (size, false))),
                $"{s_photographs.Length} synthetic photographs of 8 to 15 megapixels");
    }

    /// <summary>Returns the paths of JPEGs and PNGs of mixed sizes, 0.3 to 15 megapixels.</summary>
    public IReadOnlyList<string> GetMixed() => Make("mixed", s_mixed);

    /// <summary>Has a file written unless it is there. Moved when complete: one that was interrupted is never used.</summary>
    public static void MakeOnce(string path, Action<string> write)
    {
        if (!File.Exists(path))
        {
            string unfinished = path + ".unfinished";
            File.Delete(unfinished);
            write(unfinished);
            File.Move(unfinished, path, overwrite: true);
        }
    }

    // JPEGs are decoded in a tenth of a second, which leaves the time to the memory that is compared.
    private static bool IsPhotograph(string path)
    {
        try
        {
            using PictureFile file = PictureFile.Open(path);
            SourceHeader header = file.ReadHeader();
            return header is { Format: SKEncodedImageFormat.Jpeg, Size.Megapixels: >= LeastMegapixels and <= MostMegapixels };
        }
        catch (Exception exception) when (exception is UnreadablePictureException or IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    private List<string> Make(string name, IEnumerable<(PictureSize Size, bool IsPng)> pictures)
    {
        string folder = Path.Combine(work, Invariant($"{name}-v{Version}"));
        _ = Directory.CreateDirectory(folder);
        List<string> paths = [];
        foreach ((PictureSize size, bool isPng) in pictures)
        {
            SKEncodedImageFormat format = isPng ? SKEncodedImageFormat.Png : SKEncodedImageFormat.Jpeg;
            string file = Invariant($"{paths.Count + 1:00}-{size.Width}x{size.Height}{SourceHeader.ExtensionOf(format)}");
            string path = Path.Combine(folder, file);
            uint seed = (uint)(paths.Count * 7919) + 1;
            MakeOnce(path, target => SyntheticSet.MakeOne(target, seed, size, format));
            paths.Add(path);
        }

        return paths;
    }
}
