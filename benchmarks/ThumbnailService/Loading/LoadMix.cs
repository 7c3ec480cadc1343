namespace ThumbnailService.Loading;

/// <summary>What a client does.</summary>
internal enum RequestKind
{
    Whole,

    /// <summary>Takes two seconds to send its picture.</summary>
    Slow,

    /// <summary>Breaks off in the middle of its upload.</summary>
    GoneSending,

    /// <summary>Goes when it has sent its picture.</summary>
    GoneWaiting,

    /// <summary>Sends the first half of a file, as if it were the whole.</summary>
    Cut,

    /// <summary>Sends a small file whose header promises more pixels than there is memory for.</summary>
    Bomb,
}

/// <summary>A picture that clients send.</summary>
internal sealed record UploadFile(string Name, byte[] Data);

/// <summary>One request of a run.</summary>
internal sealed record LoadRequest(RequestKind Kind, UploadFile File);

/// <summary>The requests of a run: by their number, so that each run has the same ones.</summary>
/// <param name="files">The pictures.</param>
/// <param name="bombs">Files that nothing is to be decoded of; empty: only whole pictures are sent.</param>
internal sealed class LoadMix(IReadOnlyList<UploadFile> files, IReadOnlyList<UploadFile> bombs)
{
    // Of twenty requests fourteen are as most are.
    private const int Round = 20;

    public LoadRequest this[int index]
    {
        get
        {
            RequestKind kind = bombs.Count == 0 ? RequestKind.Whole : (index % Round) switch
            {
                3 or 11 => RequestKind.Slow,
                7 => (index / Round % 2) == 0 ? RequestKind.GoneSending : RequestKind.GoneWaiting,
                14 => RequestKind.Cut,
                9 or 18 => RequestKind.Bomb,
                _ => RequestKind.Whole,
            };
            UploadFile file = files[index % files.Count];
            return kind switch
            {
                RequestKind.Bomb => new LoadRequest(kind, bombs[index / 9 % bombs.Count]),
                RequestKind.Cut => new LoadRequest(kind, file with { Data = file.Data[..(file.Data.Length / 2)] }),
                _ => new LoadRequest(kind, file),
            };
        }
    }
}
