namespace Measurements.Factors;

/// <summary>A picture of the folder.</summary>
/// <param name="Kind">The library that decodes it, and what of the file's kind matters to memory.</param>
/// <param name="WarmUp">The smallest picture of the same kind, or else of the same library.</param>
internal sealed record Picture(string Path, string Kind, string WarmUp, PictureSize Size);

/// <summary>Chooses among the pictures of a folder: of each kind the largest.</summary>
internal static class PictureChoice
{
    /// <summary>Returns the pictures to be measured, and says in <paramref name="skipped"/> what could not be read.</summary>
    /// <param name="least">The smallest to be measured, in pixels: of smaller ones the fixed part is all that would be seen.</param>
    /// <param name="skipped">Files that start like a picture and have no readable header.</param>
    public static IReadOnlyList<Picture> Choose(
        string folder, IReadOnlyList<MeasuredCodec> codecs, long least, int most, out IReadOnlyList<string> skipped)
    {
        List<string> unreadable = [];
        List<(string Path, MeasuredCodec Codec, string Kind, PictureSize Size)> all = [];
        EnumerationOptions options = new() { RecurseSubdirectories = true, IgnoreInaccessible = true };
        foreach (string path in Directory.EnumerateFiles(folder, "*", options).Order(StringComparer.Ordinal))
        {
            byte[] file = File.ReadAllBytes(path);
            if (codecs.FirstOrDefault(codec => codec.Recognizes(file)) is not { } codec)
            {
                continue;
            }

            try
            {
                all.Add((path, codec, codec.Describe(file), codec.ReadSize(file)));
            }
            catch (UnreadablePictureException exception)
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
               from picture in kind.OrderByDescending(picture => picture.Size.Pixels).Take(most)
               let small = all.Where(other => other.Codec == picture.Codec)
                   .OrderBy(other => other.Kind != kind.Key)
                   .ThenBy(other => other.Size.Pixels)
                   .First()
               select new Picture(picture.Path, picture.Kind, small.Path, picture.Size),
        ];
    }
}
