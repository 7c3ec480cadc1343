using LoadResizeSave.Synthesis;

namespace LoadResizeSave.Tests.Containers;

/// <summary>A small picture in each format that this machine can read, in a folder that is removed when disposed.</summary>
internal sealed class PictureFiles : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("contained-tests-");

    public PictureFiles()
    {
        using AlignedStore store = new();
        foreach (IPictureCodec? codec in (IPictureCodec?[])[Codecs.Png, Codecs.Jpeg])
        {
            if (codec is not null)
            {
                SyntheticSet.MakeOne(
                    Path.Combine(_folder.FullName, "a" + codec.Extension), seed: 1, new PictureSize(640, 400), grain: 1, codec, store);
            }
        }
    }

    public PictureCodecs Codecs { get; } = new(useLibjpeg: true);

    public string[] Paths => Directory.GetFiles(_folder.FullName);

    public void Dispose() => _folder.Delete(recursive: true);
}
