using System.Collections.Concurrent;
using System.Text.Json;
using Allocator;

namespace LoadResizeSave.Running;

/// <summary>The child process: does the whole job with one allocator, then keeps still to show what becomes of the idle memory.</summary>
internal sealed class MeasuringChild
{
    /// <summary>How many trim periods pass between the end of the work and the release: enough to see the decay by half.</summary>
    public const int IdlePeriods = 6;

    private static readonly TimeSpan s_samplePeriod = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_afterRelease = TimeSpan.FromSeconds(0.5);

    private readonly JobOptions _options;
    private readonly string _input;
    private readonly TextWriter _parent;
    private readonly ConcurrentDictionary<string, SavedPicture> _saved = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, SkippedPicture> _skipped = new(StringComparer.Ordinal);
    private readonly List<MeasuredPass> _passes = [];
    private int _done;
    private int _pictures;
    private long _pixels;

    public MeasuringChild(JobOptions options, TextWriter parent)
    {
        _options = options;
        _input = options.Input ?? throw new ArgumentException("A child is told its folder.", nameof(options));
        _parent = TextWriter.Synchronized(parent);
    }

    public void Run()
    {
        AllocatorKind kind = _options.Allocators[0];
        List<string> names = LargestFirst(PictureFolder.Find(_input, _options.Work, SavedFolder(_options)));
        using PixelStore store = PixelStore.Create(kind, _options.TrimPeriod, _options.BudgetMegabytes);
        using Sampler<MemorySample> sampler =
            new(s_samplePeriod, seconds => new MemorySample(seconds, ProcessMemory.ReadResidentOften(), store.CommittedBytes));
        PicturePipeline pipeline = new(_options, new PictureCodecs(_options.UseLibjpeg), store, OutputFolder(_options, kind));

        ProcessCounters before = ProcessCounters.Read();
        double started = sampler.Seconds;
        Work(pipeline, names);
        double wall = sampler.Seconds - started;
        ProcessCounters cost = ProcessCounters.Read().Since(before);

        if (_options.WatchesIdle)
        {
            Thread.Sleep(IdlePeriods * _options.TrimPeriod);
        }

        double releasedAt = sampler.Seconds;
        store.Release();
        Thread.Sleep(_options.WatchesIdle ? s_afterRelease : TimeSpan.Zero);
        IReadOnlyList<MemorySample> samples = sampler.Stop();
        Report(new ChildMessage
        {
            Result = new MeasuredRun
            {
                Allocator = kind,
                WallSeconds = wall,
                Pictures = _pictures,
                Megapixels = _pixels / 1e6,
                Cost = cost,
                Passes = _passes,
                InitialResidentBytes = samples[0].ResidentBytes,
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

    public static string SavedFolder(JobOptions options) => Path.Combine(options.Work, "saved");

    private static string OutputFolder(JobOptions options, AllocatorKind kind)
        => Path.Combine(SavedFolder(options), kind.ToString().ToLowerInvariant());

    private static bool IsReasonToSkip(Exception exception) => exception
        is UnreadablePictureException or InvalidDataException or IOException or UnauthorizedAccessException
        or MemoryLimitExceededException or OutOfMemoryException;

    // The large ones overlap in every run alike, and no core is left with one of them at the end.
    private List<string> LargestFirst(IReadOnlyList<string> names)
        => [.. names.OrderByDescending(name => new FileInfo(Path.Combine(_input, name)).Length)];

    private void Work(PicturePipeline pipeline, List<string> names)
    {
        Report(new ChildMessage { Done = 0, Total = names.Count * _options.Repeat });
        // Pictures keep their threads busy: the pool, which grows by one or two a second, would never come to more at once than there are
        // cores.
        ThreadPool.GetMinThreads(out int threads, out int completionThreads);
        _ = ThreadPool.SetMinThreads(Math.Max(threads, _options.Parallelism), completionThreads);
        ParallelOptions parallel = new() { MaxDegreeOfParallelism = _options.Parallelism };

        // One repetition after the other: two of them would write the same file at the same time.
        for (int repetition = 0; repetition < _options.Repeat; repetition++)
        {
            ProcessCounters before = ProcessCounters.Read();
            Stopwatch clock = Stopwatch.StartNew();
            int saved = _pictures;
            Parallel.ForEachAsync(names, parallel, (name, _) => ProcessAsync(pipeline, name)).GetAwaiter().GetResult();
            _passes.Add(new MeasuredPass(clock.Elapsed.TotalSeconds, _pictures - saved, ProcessCounters.Read().Since(before)));
        }
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

        Report(new ChildMessage { Done = Interlocked.Increment(ref _done), Total = null });
    }

    private void Report(ChildMessage message)
    {
        _parent.WriteLine(JsonSerializer.Serialize(message, JobJson.Default.ChildMessage));
        _parent.Flush();
    }
}
