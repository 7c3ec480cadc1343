namespace LoadResizeSave.Pipelines;

/// <summary>What a child is to do with one pipeline.</summary>
/// <param name="PictureList">A file with the path of a picture in each line: a command line does not hold those of a large folder.</param>
/// <param name="LimitMegabytes">The container's limit in MiB; 0 at large.</param>
internal sealed record PipelineRequest(
    string Pipeline, string PictureList, string Folder, int AtOnce, int Jobs, int LimitMegabytes, double SettleSeconds);

/// <summary>The child for one pipeline: makes one picture that does not count, then all, and keeps still before its last look.</summary>
internal sealed class PipelineChild(PipelineRequest request, Action<ContainerMessage> send)
{
    private readonly Pipeline _pipeline = Pipeline.Get(request.Pipeline);
    private readonly string[] _pictures = File.ReadAllLines(request.PictureList);
    private readonly Lock _sending = new();

    public static ChildTask<PipelineRequest, ContainerMessage> Task { get; } = new(
        "pipeline",
        ContainerJson.Default.PipelineRequest,
        ContainerJson.Default.ContainerMessage,
        static (request, send) => new PipelineChild(request, send).RunAsync().GetAwaiter().GetResult());

    /// <summary>Returns the path of what a job makes of a picture.</summary>
    public static string TargetOf(string folder, string picture, int job)
        => Path.Combine(folder, Invariant($"{Path.GetFileNameWithoutExtension(picture)}-{job}.jpg"));

    public async Task RunAsync()
    {
        // In a container it sets malloc's map threshold for the whole process: the others have their own defaults.
        if (_pipeline is { IsOfLibrary: true, Admits: null })
        {
            Pipeline.UseAllocator(request.LimitMegabytes);
        }

        _ = Directory.CreateDirectory(request.Folder);

        JobChild.AtLeastThreads(request.AtOnce);
        _ = await MakeAsync(0);
        Send(new ContainerMessage { Begins = true });
        ProcessCounters before = ProcessCounters.Read();
        long started = Stopwatch.GetTimestamp();
        ParallelOptions parallel = new() { MaxDegreeOfParallelism = request.AtOnce };
        await Parallel.ForAsync(0, request.Jobs, parallel, async (i, _) => Send(new ContainerMessage { Job = await MakeAsync(i) }));
        double wall = Stopwatch.GetElapsedTime(started).TotalSeconds;
        ProcessCounters cost = ProcessCounters.Read().Since(before);
        _pipeline.Release?.Invoke();
        await System.Threading.Tasks.Task.Delay(TimeSpan.FromSeconds(request.SettleSeconds));
        Send(new ContainerMessage
        {
            Run = new RunMessage
            {
                Seconds = wall,
                FinalResidentBytes = ProcessMemory.ReadResident(),
                Cost = cost,
                PeakResidentBytes = ProcessMemory.ReadPeakResident(),
            },
        });
    }

    private async Task<JobMessage> MakeAsync(int job)
    {
        string source = _pictures[job % _pictures.Length];
        string target = TargetOf(request.Folder, source, job);
        long started = Stopwatch.GetTimestamp();
        (JobEnd end, string? reason) = (JobEnd.Done, null);
        try
        {
            await _pipeline.Run(source, target);
        }
        catch (MemoryLimitExceededException exception)
        {
            (end, reason) = (JobEnd.Refused, exception.Message);
        }
        catch (Exception exception)
        {
            // The innermost one says which library is missing; what a pipeline throws is its own affair.
            (end, reason) = (JobEnd.Failed, exception.GetBaseException().Message);
        }

        return new JobMessage(source, JobKind.Whole, end, Stopwatch.GetElapsedTime(started).TotalSeconds, 0, null, reason);
    }

    private void Send(ContainerMessage message)
    {
        lock (_sending)
        {
            send(message);
        }
    }
}
