using ImageMagick;

namespace ThumbnailService.Trials;

/// <summary>The pictures to upload: the user's, or some of mixed sizes that are made once.</summary>
internal static class UploadSet
{
    // Which of the mixed pictures are made progressive too: decoding those takes twice the memory.
    private static readonly (int Picture, string Name)[] s_progressive =
        [(0, "15-megapixels-progressive.jpg"), (5, "12-megapixels-progressive.jpg")];

    public static IReadOnlyList<UploadFile> Get(string? input)
    {
        if (input is not null)
        {
            List<UploadFile> files = [.. PictureFolder.Find(input).Select(name => Read(Path.Combine(input, name)))];
            return files.Count > 0 ? files : throw new IOException($"There is no picture in {input}.");
        }

        IReadOnlyList<string> mixed = new ContainerPictures(null, ContainerOptions.WorkFolder).GetMixed();
        return [.. mixed.Select(Read), .. s_progressive.Select(made => Read(GetProgressive(mixed[made.Picture], made.Name)))];
    }

    /// <summary>Writes a progressive JPEG of a picture.</summary>
    public static void MakeProgressive(string source, string target)
    {
        using MagickImage picture = new(source);
        picture.Settings.Interlace = Interlace.Jpeg;
        picture.Write(target, MagickFormat.Jpeg);
    }

    private static string GetProgressive(string source, string name)
    {
        string path = Path.Combine(Path.GetDirectoryName(source)!, name);
        ContainerPictures.MakeOnce(path, target => MakeProgressive(source, target));
        return path;
    }

    private static UploadFile Read(string path) => new(Path.GetFileName(path), File.ReadAllBytes(path));
}
