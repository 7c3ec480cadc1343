namespace LoadResizeSave.Containers;

/// <summary>What a job does with its picture.</summary>
internal enum JobKind
{
    Whole,

    /// <summary>The client goes away while the job waits for memory, or soon after; the job is cancelled.</summary>
    Cancelled,

    /// <summary>The job is forgotten after decoding: neither its memory nor its reservation is disposed.</summary>
    Abandoned,

    Truncated,

    /// <summary>The file comes slowly, and is held in memory while it comes; the job is admitted when all of it is there.</summary>
    SlowUpload,
}

/// <summary>
/// A picture that is read, decoded, made a quarter as wide and as high, and encoded. The file's bytes, both pictures, the scratch rows and
/// the encoded file are all memory of one store; what the codec takes for itself is not. Safe for concurrent callers.
/// </summary>
internal sealed class PictureJob(PictureCodecs codecs, PixelStore store)
{
    private const int Shrinking = 4;
    private const int UploadPieces = 20;

    private static readonly TimeSpan s_uploadPause = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_clientPatience = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// Takes the picture <paramref name="path"/> all the way, or as far as a job of <paramref name="kind"/> goes. Blocks until there is
    /// memory. Throws nothing that a job can cause.
    /// </summary>
    public JobMessage Run(string path, JobKind kind)
    {
        long started = Stopwatch.GetTimestamp();
        TimeSpan waited = TimeSpan.Zero;
        string? hash = null;
        string? reason = null;
        JobEnd end;
        try
        {
            hash = kind switch
            {
                JobKind.SlowUpload => RunUploaded(path, ref waited),
                JobKind.Abandoned => Abandon(path, ref waited),
                _ => RunFromFile(path, kind, ref waited),
            };
            end = hash is null ? JobEnd.Vanished : JobEnd.Done;
        }
        catch (Exception exception) when (Judge(exception, kind) is { } judged)
        {
            (end, reason) = (judged, exception.Message);
        }

        return new JobMessage(path, kind, end, Stopwatch.GetElapsedTime(started).TotalSeconds, waited.TotalSeconds, hash, reason);
    }

    /// <summary>
    /// Returns how a job of <paramref name="kind"/> ended that <paramref name="exception"/> ended; null where no job may throw such a
    /// thing.
    /// </summary>
    public static JobEnd? Judge(Exception exception, JobKind kind) => exception switch
    {
        MemoryLimitExceededException refusal => refusal.IsTransient ? JobEnd.Refused : JobEnd.RefusedForGood,
        OperationCanceledException => JobEnd.Vanished,
        UnreadablePictureException or InvalidDataException when kind == JobKind.Truncated => JobEnd.Damaged,
        UnreadablePictureException or InvalidDataException or IOException or OutOfMemoryException => JobEnd.Failed,
        _ => null,
    };

    private string RunFromFile(string path, JobKind kind, ref TimeSpan waited)
    {
        using CancellationTokenSource client = new();
        if (kind == JobKind.Cancelled)
        {
            client.CancelAfter(s_clientPatience);
        }

        using PictureFile file = PictureFile.Open(path);
        PictureHeader header = file.ReadHeader(codecs);
        PictureSize target = Target(header);
        using Admission admission = Admit(header.Estimate(target, store), ref waited, client.Token);
        using IMemoryOwner<byte> data = file.Read(admission.Store);
        client.Token.ThrowIfCancellationRequested();
        int length = kind == JobKind.Truncated ? data.Memory.Length / 2 : data.Memory.Length;
        string hash = Make(header, data.Memory[..length], target, admission.Store);
        client.Token.ThrowIfCancellationRequested();
        return hash;
    }

    // Held while it comes, by the store and not by the job: a job that was admitted first would keep its memory from others for as long
    // as its client likes.
    private string RunUploaded(string path, ref TimeSpan waited)
    {
        using SafeFileHandle network = File.OpenHandle(path);
        int length = checked((int)RandomAccess.GetLength(network));
        using IMemoryOwner<byte> upload = store.AllocateAsync<byte>(length).AsTask().GetAwaiter().GetResult();
        int piece = (length / UploadPieces) + 1;
        for (int start = 0; start < length; start += piece)
        {
            _ = RandomAccess.Read(network, upload.Memory.Span.Slice(start, Math.Min(piece, length - start)), start);
            Thread.Sleep(s_uploadPause);
        }

        PictureHeader header = PictureHeader.Read(upload.Memory, length, codecs);
        PictureSize target = Target(header);
        using Admission admission = Admit(header.Estimate(target, store), ref waited, CancellationToken.None);
        return Make(header, upload.Memory, target, admission.Store);
    }

    // In a frame of its own: nothing on the stack of a worker may keep alive what the job forgot.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private string? Abandon(string path, ref TimeSpan waited)
    {
        using PictureFile file = PictureFile.Open(path);
        PictureHeader header = file.ReadHeader(codecs);
        Admission admission = Admit(header.Estimate(Target(header), store), ref waited, CancellationToken.None);
        IMemoryOwner<byte> data = file.Read(admission.Store);
        Raster<Rgb24> picture = admission.Store.AllocatePixels<Rgb24>(
            header.Size.Width, header.Size.Height, header.Codec.NeedsContiguousPixels);
        header.Codec.Decode(data.Memory, picture, admission.Store);
        return null;
    }

    private Admission Admit(long bytes, ref TimeSpan waited, CancellationToken cancellationToken)
    {
        long asked = Stopwatch.GetTimestamp();
        try
        {
            return store.AdmitAsync(bytes, cancellationToken).AsTask().GetAwaiter().GetResult();
        }
        finally
        {
            waited = Stopwatch.GetElapsedTime(asked);
        }
    }

    private static PictureSize Target(PictureHeader header)
        => PictureReduction.Fit(header.Size, Math.Max(1, header.Size.Width / Shrinking));

    private static string Make(PictureHeader header, ReadOnlyMemory<byte> file, PictureSize target, PixelStore store)
    {
        using Raster<Rgb24> picture = PictureReduction.Reduce(header, file, target, store);
        using HashingStream hash = new(Stream.Null);
        header.Codec.Encode(picture, hash, store);
        return hash.GetHash();
    }
}
