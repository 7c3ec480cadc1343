namespace LoadResizeSave.Containers;

/// <summary>What a job does with its picture.</summary>
internal enum JobKind
{
    Whole,

    /// <summary>The client disconnects while the job waits for memory, or soon after; the job is cancelled.</summary>
    Cancelled,

    /// <summary>The job is forgotten after decoding: neither its memory nor its reservation is disposed.</summary>
    Abandoned,

    Truncated,

    /// <summary>The file arrives slowly, and is held in memory meanwhile; the job is admitted when all of it has arrived.</summary>
    SlowUpload,
}

/// <summary>
/// Reads, decodes, resizes to a quarter of the width and height, and encodes a picture. The file and both pictures are memory of one
/// store; what Skia takes for itself is not. Safe for concurrent callers.
/// </summary>
internal sealed class PictureJob(PixelStore store)
{
    private const int Shrinking = 4;
    private const int UploadPieces = 20;

    private static readonly TimeSpan s_uploadPause = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_clientPatience = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// Processes the picture <paramref name="path"/>, or as far as a job of <paramref name="kind"/> goes. Blocks until there is memory.
    /// Throws nothing that a job can cause.
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
    /// Returns how a job of <paramref name="kind"/> ended that threw <paramref name="exception"/>; null if no job may throw it.
    /// </summary>
    public static JobEnd? Judge(Exception exception, JobKind kind) => exception switch
    {
        MemoryLimitExceededException refusal => refusal.IsTransient ? JobEnd.Refused : JobEnd.RefusedForGood,
        OperationCanceledException => JobEnd.Vanished,
        UnreadablePictureException when kind == JobKind.Truncated => JobEnd.Damaged,
        UnreadablePictureException or IOException or OutOfMemoryException => JobEnd.Failed,
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
        SourceHeader header = file.ReadHeader();
        using Admission admission = Admit(header, ref waited, client.Token);
        using IMemoryOwner<byte> data = file.Read(admission.Store);
        client.Token.ThrowIfCancellationRequested();
        int length = kind == JobKind.Truncated ? data.Memory.Length / 2 : data.Memory.Length;
        string hash = Make(header, data.Memory[..length], admission.Store);
        client.Token.ThrowIfCancellationRequested();
        return hash;
    }

    // The upload is memory of the store and not of the job: a job that was admitted first would keep its memory from others for as long as
    // its client likes.
    private string RunUploaded(string path, ref TimeSpan waited)
    {
        using SafeFileHandle network = File.OpenHandle(path);
        int length = checked((int)RandomAccess.GetLength(network));
        using IMemoryOwner<byte> upload = store.AllocateAsync(length).AsTask().GetAwaiter().GetResult();
        int piece = (length / UploadPieces) + 1;
        for (int start = 0; start < length; start += piece)
        {
            _ = RandomAccess.Read(network, upload.Memory.Span.Slice(start, Math.Min(piece, length - start)), start);
            Thread.Sleep(s_uploadPause);
        }

        SourceHeader header = SourceHeader.Read(upload.Memory, length);
        using Admission admission = Admit(header, ref waited, CancellationToken.None);
        return Make(header, upload.Memory, admission.Store);
    }

    // In a frame of its own: nothing on the stack of a worker may keep alive what the job forgot.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private string? Abandon(string path, ref TimeSpan waited)
    {
        using PictureFile file = PictureFile.Open(path);
        SourceHeader header = file.ReadHeader();
        Admission admission = Admit(header, ref waited, CancellationToken.None);
        IMemoryOwner<byte> data = file.Read(admission.Store);
        _ = header.Decode(data.Memory, admission.Store);
        return null;
    }

    private Admission Admit(SourceHeader header, ref TimeSpan waited, CancellationToken cancellationToken)
    {
        long asked = Stopwatch.GetTimestamp();
        try
        {
            return store.AdmitAsync(header.Estimate(Target(header), store), cancellationToken).AsTask().GetAwaiter().GetResult();
        }
        finally
        {
            waited = Stopwatch.GetElapsedTime(asked);
        }
    }

    private static PictureSize Target(SourceHeader header) => header.Size.FitWidth(Math.Max(1, header.Size.Width / Shrinking));

    private static string Make(SourceHeader header, ReadOnlyMemory<byte> file, PixelStore store)
    {
        using Raster picture = header.Resize(file, Target(header), store);
        return PicturePipeline.Encode(picture, header.Format, Stream.Null);
    }
}
