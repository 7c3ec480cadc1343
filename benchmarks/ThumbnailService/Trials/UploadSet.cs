namespace ThumbnailService.Trials;

/// <summary>The pictures to upload: those of the user, or photographs that are made once.</summary>
internal static class UploadSet
{
    private const int Photographs = 8;
    private const int QuickPhotographs = 4;
    private const double QuickMegapixels = 4;

    public static IReadOnlyList<UploadFile> Get(ServiceLoad load)
    {
        if (load.Input is null)
        {
            // The set has files beside its photographs that no decoder accepts: there is no thumbnail of them to expect.
            return
            [
                .. UploadFile.ReadAll(MakePhotographs(load.IsQuick)).Where(
                    file => file.Name.StartsWith("photograph", StringComparison.Ordinal)),
            ];
        }

        IReadOnlyList<UploadFile> files = UploadFile.ReadAll(load.Input);
        return files.Count > 0 ? files : throw new IOException($"There is no picture in {load.Input}.");
    }

    private static string MakePhotographs(bool isQuick)
    {
        string work = Path.GetFullPath(Path.Combine("artifacts", "thumbnail-service"));
        _ = Directory.CreateDirectory(work);
        SyntheticSet photographs = new(
            isQuick ? QuickPhotographs : Photographs, isQuick ? QuickMegapixels : null, new PictureCodecs());
        string folder = photographs.FolderIn(work);
        photographs.Make(folder, (_, _) => { }, CancellationToken.None);
        return folder;
    }
}
