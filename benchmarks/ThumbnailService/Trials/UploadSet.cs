using LoadResizeSave.Running;
using LoadResizeSave.Synthesis;
using ThumbnailService.Loading;

namespace ThumbnailService.Trials;

/// <summary>The pictures to upload: those of the user, or photographs that are made once.</summary>
internal static class UploadSet
{
    private const int Photographs = 8;
    private const int QuickPhotographs = 4;
    private const double QuickMegapixels = 4;

    /// <exception cref="IOException">There is none.</exception>
    public static IReadOnlyList<UploadFile> Get(ServiceLoad load)
    {
        if (load.Input is null)
        {
            // The set has files beside its photographs that no decoder accepts: there is no thumbnail of them to expect.
            return [.. UploadFile.ReadAll(MakePhotographs(load.IsQuick)).Where(file => file.Name.StartsWith("photograph", StringComparison.Ordinal))];
        }

        IReadOnlyList<UploadFile> files = UploadFile.ReadAll(load.Input);
        return files.Count > 0 ? files : throw new IOException($"There is no picture in {load.Input}.");
    }

    private static string MakePhotographs(bool isQuick)
    {
        PictureCodecs codecs = new(useLibjpeg: true);
        string work = Path.GetFullPath(Path.Combine("artifacts", "thumbnail-service"));
        _ = Directory.CreateDirectory(work);
        JobOptions options = new()
        {
            Output = work,
            Work = work,
            Chart = work,
            Allocators = [],
            Parallelism = Environment.ProcessorCount,
            Repeat = 1,
            Width = 1,
            MaximumMegapixels = 1,
            TrimPeriod = TimeSpan.FromSeconds(1),
            SyntheticCount = isQuick ? QuickPhotographs : Photographs,
            SyntheticMegapixels = isQuick ? QuickMegapixels : null,
            UseLibjpeg = true,
        };
        string folder = SyntheticSet.Folder(options, codecs);
        SyntheticSet.Make(folder, options, codecs, (_, _) => { }, CancellationToken.None);
        return folder;
    }
}
