namespace ThumbnailService.Trials;

/// <summary>The pictures to upload: those of the user, or some of mixed sizes that are made once.</summary>
internal static class UploadSet
{
    private static readonly string[] s_endings = [".jpg", ".jpeg", ".png", ".jxl"];

    // Which of the mixed pictures are made anew, by which tool: for JPEG XL and progressive JPEG there is no encoder here.
    private static readonly (int Picture, string Name, string Tool, string[] Arguments)[] s_made =
    [
        (0, "15-megapixels-progressive.jpg", "jpegtran", ["-progressive", "-outfile", "{1}", "{0}"]),
        (5, "12-megapixels-progressive.jpg", "jpegtran", ["-progressive", "-outfile", "{1}", "{0}"]),
        (8, "8-megapixels.jxl", "cjxl", ["--quiet", "-e", "3", "-d", "1", "{0}", "{1}"]),
        (3, "4-megapixels.jxl", "cjxl", ["--quiet", "-e", "3", "-d", "1", "{0}", "{1}"]),
        (6, "1-megapixel-lossless.jxl", "cjxl", ["--quiet", "-e", "3", "-d", "0", "{0}", "{1}"]),
    ];

    /// <summary>Returns the pictures, and what others are missing of.</summary>
    public static (IReadOnlyList<UploadFile> Files, IReadOnlyList<string> Missing) Get(string? input)
    {
        if (input is not null)
        {
            List<UploadFile> files =
            [
                .. Directory.EnumerateFiles(input, "*", SearchOption.AllDirectories)
                    .Where(path => s_endings.Contains(Path.GetExtension(path).ToLowerInvariant()))
                    .Order(StringComparer.Ordinal)
                    .Select(Read),
            ];
            return files.Count > 0 ? (files, []) : throw new IOException($"There is no picture in {input}.");
        }

        IReadOnlyList<string> mixed = new ContainerPictures(null, ContainerOptions.WorkFolder).GetMixed();
        List<UploadFile> all = [.. mixed.Select(Read)];
        List<string> missing = [];
        foreach ((int picture, string name, string tool, string[] arguments) in s_made)
        {
            try
            {
                all.Add(Read(Convert(mixed[picture], name, tool, arguments)));
            }
            catch (ChildFailedException exception)
            {
                missing.Add($"{name}: {exception.Message}");
            }
        }

        return (all, missing);
    }

    /// <summary>Returns a small picture in each format that is made here.</summary>
    public static IReadOnlyList<UploadFile> GetSmall() =>
        [.. new ContainerPictures(null, ContainerOptions.WorkFolder).GetSmall().Distinct().Select(Read)];

    private static string Convert(string source, string name, string tool, string[] arguments)
    {
        string path = Path.Combine(Path.GetDirectoryName(source)!, name);
        if (!File.Exists(path))
        {
            string unfinished = path + ".unfinished" + Path.GetExtension(path);
            _ = ChildProgram.Run(new ProcessStartInfo(
                tool, arguments.Select(argument => argument.Replace("{0}", source).Replace("{1}", unfinished))));
            File.Move(unfinished, path, overwrite: true);
        }

        return path;
    }

    private static UploadFile Read(string path) => new(Path.GetFileName(path), File.ReadAllBytes(path));
}
