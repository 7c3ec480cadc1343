using System.Collections.Concurrent;

namespace LoadResizeSave.Running;

/// <summary>The child process: does the whole job with one allocator, then keeps still to show what becomes of the idle memory.</summary>
internal sealed class JobChild(JobOptions options, Action<JobProgress> report)
{
    /// <summary>How many trim periods pass between the end of the work and the release: enough to see the decay by half.</summary>
    public const int IdlePeriods = 6;

    private static readonly TimeSpan s_samplePeriod = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_afterRelease = TimeSpan.FromSeconds(0.5);

    private readonly string _input = options.Input!;
    private readonly ConcurrentDictionary<string, SavedPicture> _saved = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, SkippedPicture> _skipped = new(StringComparer.Ordinal);
    private int _done;
    private int _pictures;
    private long _pixels;

    public static ChildTask<JobOptions, JobProgress> Task { get; } = new(
        "job", JobJson.Default.JobOptions, JobJson.Default.JobProgress, static (options, send) => new JobChild(options, send).Run());

    /// <summary>Has a child do the job with one allocator, which takes <paramref name="task"/> one step further.</summary>
    public static async Task<MeasuredRun> RunAsync(
        JobOptions options, AllocatorKind kind, string input, ProgressTask task, CancellationToken cancellationToken)
    {
        using Process child = ChildProgram.Start(Task.Describe(options with { Input = input, Allocators = [kind] }));
        MeasuredRun? result = null;
        double before = task.Value;
        double total = 1;
        ChildEnd end = await Task.FollowAsync(
            child,
            message =>
            {
                result ??= message.Result;

                // What follows the last picture is the wait for the trims: the bar says so by a share of its own.
                total = message.Total * 1.1 ?? total;
                _ = task.Value(before + (message.Result is null ? (message.Done ?? 0) / total : 1));
            },
            cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        return end.ExitCode == 0 && result is not null
            ? result
            : throw new ChildFailedException($"{kind.Name()}: exit code {end.ExitCode}. {end.Errors}");
    }

    private static bool IsReasonToSkip(Exception exception) => exception
        is UnreadablePictureException or IOException or UnauthorizedAccessException
        or MemoryLimitExceededException or OutOfMemoryException;

    private void Run()
    {
        AllocatorKind kind = options.Allocators[0];

        // The large ones overlap in every run alike, and no core is left with one of them at the end.
        List<string> names = [.. PictureFolder.Find(_input, options.Work, options.SavedFolder)
            .OrderByDescending(name => new FileInfo(Path.Combine(_input, name)).Length)];
        using PixelStore store = PixelStore.Create(kind, options.TrimPeriod);
        using Sampler<MemorySample> sampler =
            new(s_samplePeriod, seconds => new MemorySample(seconds, ProcessMemory.ReadResidentOften(), store.CommittedBytes));
        PicturePipeline pipeline = new(store, Path.Combine(options.SavedFolder, kind.ToString().ToLowerInvariant()));

        ProcessCounters before = ProcessCounters.Read();
        double started = sampler.Seconds;
        Work(pipeline, names);
        double wall = sampler.Seconds - started;
        ProcessCounters cost = ProcessCounters.Read().Since(before);

        Thread.Sleep(IdlePeriods * options.TrimPeriod);
        double releasedAt = sampler.Seconds;
        store.Release();
        Thread.Sleep(s_afterRelease);
        IReadOnlyList<MemorySample> samples = sampler.Stop();
        report(new JobProgress
        {
            Result = new MeasuredRun
            {
                Allocator = kind,
                WallSeconds = wall,
                Pictures = _pictures,
                Megapixels = _pixels / 1e6,
                Cost = cost,
                PeakResidentBytes = ProcessMemory.ReadPeakResident(),
                FinalResidentBytes = samples[^1].ResidentBytes,
                ReleasedAt = releasedAt,
                Samples = samples,
                Saved = [.. _saved.Values.OrderBy(picture => picture.Name, StringComparer.Ordinal)],
                Skipped = [.. _skipped.Values.OrderBy(picture => picture.Name, StringComparer.Ordinal)],
                Statistics = store.Statistics,
            },
        });
    }

    private void Work(PicturePipeline pipeline, List<string> names)
    {
        report(new JobProgress { Done = 0, Total = names.Count * options.Repeat });

        AtLeastThreads(options.Parallelism);
        ParallelOptions parallel = new() { MaxDegreeOfParallelism = options.Parallelism };

        // One repetition after the other: two of them would write the same file at the same time.
        for (int repetition = 0; repetition < options.Repeat; repetition++)
        {
            Parallel.ForEachAsync(names, parallel, (name, _) => ProcessAsync(pipeline, name)).GetAwaiter().GetResult();
        }
    }

    /// <summary>
    /// Lets so many jobs run at once: they keep their threads busy, and the thread pool grows by only one or two threads a second.
    /// </summary>
    public static void AtLeastThreads(int count)
    {
        ThreadPool.GetMinThreads(out int threads, out int completionThreads);
        _ = ThreadPool.SetMinThreads(Math.Max(threads, count), completionThreads);
    }

    private async ValueTask ProcessAsync(PicturePipeline pipeline, string name)
    {
        try
        {
            SavedPicture picture = await pipeline.ProcessAsync(_input, name);
            if (_saved.GetOrAdd(name, picture) != picture)
            {
                throw new InvalidOperationException($"{name} came out different when it was repeated: memory was overwritten.");
            }

            _ = Interlocked.Increment(ref _pictures);
            _ = Interlocked.Add(ref _pixels, picture.SourcePixels);
        }
        catch (Exception exception) when (IsReasonToSkip(exception))
        {
            _ = _skipped.TryAdd(name, new SkippedPicture(name, exception.Message));
        }

        report(new JobProgress { Done = Interlocked.Increment(ref _done) });
    }
}
