using ImageMagick;

namespace Measurements.Factors;

/// <summary>A picture of the folder.</summary>
/// <param name="Kind">What of the file decides how much memory decoding takes.</param>
/// <param name="WarmUp">The smallest picture of the same kind.</param>
internal sealed record Picture(string Path, string Kind, string WarmUp, PictureSize Size);

/// <summary>Chooses among the pictures of a folder: of each kind the largest.</summary>
internal static class PictureChoice
{
    private static readonly string[] s_extensions =
        [".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".tga", ".avif", ".heic", ".jxl"];

    /// <summary>Returns the pictures to be measured, and says in <paramref name="skipped"/> what could not be read.</summary>
    /// <param name="least">The smallest to be measured, in pixels: of smaller ones the fixed part is all that would be seen.</param>
    public static IReadOnlyList<Picture> Choose(string folder, long least, int most, out IReadOnlyList<string> skipped)
    {
        List<string> unreadable = [];
        List<(string Path, string Kind, PictureSize Size)> all = [];
        EnumerationOptions options = new() { RecurseSubdirectories = true, IgnoreInaccessible = true };
        foreach (string path in Directory.EnumerateFiles(folder, "*", options).Order(StringComparer.Ordinal))
        {
            if (!s_extensions.Contains(Path.GetExtension(path).ToLowerInvariant()))
            {
                continue;
            }

            try
            {
                MagickImageInfo info = new(path);
                PictureSize size = new((int)info.Width, (int)info.Height);
                all.Add((path, Describe(path, info), size));
            }
            catch (Exception exception) when (exception is MagickException or UnreadablePictureException)
            {
                unreadable.Add($"{Path.GetFileName(path)}: {exception.Message}");
            }
        }

        skipped = unreadable;
        return
        [
            .. from picture in all
               where picture.Size.Pixels >= least
               group picture by picture.Kind into kind
               orderby kind.Key
               let small = all.Where(other => other.Kind == kind.Key).MinBy(other => other.Size.Pixels)
               from picture in kind.OrderByDescending(picture => picture.Size.Pixels).Take(most)
               select new Picture(picture.Path, kind.Key, small.Path, picture.Size),
        ];
    }

    private static string Describe(string path, MagickImageInfo info)
    {
        if (info.Format != MagickFormat.Jpeg)
        {
            return info.Format.ToString().ToUpperInvariant()
                + (info.Interlace is Interlace.NoInterlace or Interlace.Undefined ? "" : ", interlaced");
        }

        using FileStream file = File.OpenRead(path);
        if (!PictureHeader.TryRead(file, out PictureHeader header))
        {
            throw new UnreadablePictureException("the file is cut short: there is no scan");
        }

        using MagickImage picture = new();
        picture.Ping(path);
        string sampling = info.ColorSpace == ColorSpace.Gray ? "grey" : picture.GetAttribute("jpeg:sampling-factor") switch
        {
            "2x2,1x1,1x1" => "4:2:0",
            "2x1,1x1,1x1" => "4:2:2",
            "1x1,1x1,1x1" => "4:4:4",
            string other => other,
            null => "unknown",
        };
        return $"JPEG, {(header.IsProgressive ? "several scans" : "one scan")}, {sampling}";
    }
}
