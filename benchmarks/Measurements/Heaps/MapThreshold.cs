namespace Measurements.Heaps;

/// <summary>
/// What a child is to do again and again: decode a picture with Skia, have a pipeline make it smaller and save it, or take and
/// free 4 MB of malloc if there is none.
/// </summary>
internal sealed record ThresholdRequest(bool IsFixed, string? Picture, string? Pipeline, int Milliseconds);

/// <summary>Processor time of the median one, and what the process had resident at the end beyond the start.</summary>
internal sealed record ThresholdResult(double Milliseconds, long KeptBytes);

/// <summary>
/// What it costs, and what it returns, that malloc maps from 1 MiB on (SetNativeMapThreshold): the same work in processes with glibc's own
/// threshold and with the fixed one, in turn.
/// </summary>
internal static unsafe class MapThreshold
{
    private const int LoopBytes = 4_000_000;
    private const int PageBytes = 4096;
    private const int Threshold = 1 << 20;
    private const string Loop = "malloc and free of 4 MB, written";

    private static readonly string[] s_pipelines = ["skia", "pooled"];

    private static readonly string s_synthetic = Path.Combine("artifacts", "map-threshold");

    private static readonly Option<DirectoryInfo?> s_input =
        new("--input", "-i") { Description = "Folder of JPEG pictures, each of which is measured. Without it two are made." };

    private static readonly Option<int> s_rounds =
        new Option<int>("--rounds") { Description = "Processes of each kind.", DefaultValueFactory = _ => 9 }.AtLeast(1);

    public static ChildTask<ThresholdRequest, ThresholdResult> Task { get; } = new(
        "map-threshold", MeasurementJson.Default.ThresholdRequest, MeasurementJson.Default.ThresholdResult, Run);

    public static Command Create() => new Command(
        "threshold", "Measures what a fixed map threshold of malloc costs codecs and a loop of 4 MB, and what it returns.")
    {
        s_input, s_rounds,
    }.Measures("MapThreshold", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        string folder = run.Get(s_input)?.FullName ?? Path.GetFullPath(s_synthetic);
        if (run.Get(s_input) is null)
        {
            SyntheticPictures.Make(folder);
        }

        string[] files = Directory.GetFiles(folder, "*.jp*g", SearchOption.AllDirectories);
        Array.Sort(files, static (one, other) => new FileInfo(one).Length.CompareTo(new FileInfo(other).Length));
        List<(string? Picture, string? Pipeline)> works = [
            .. files.SelectMany(file => (string?[])[null, .. s_pipelines], (file, pipeline) => (file, pipeline)), (null, null)];
        int rounds = run.Get(s_rounds, 2);
        int milliseconds = run.IsQuick ? 100 : 1500;
        List<ResultRow> rows = [];
        foreach ((string? picture, string? pipeline) in works)
        {
            // In turn, so that what else the machine does falls on both.
            List<(ThresholdResult Own, ThresholdResult Fixed)> pairs = [];
            for (int round = 0; round < rounds; round++)
            {
                pairs.Add((
                    Task.Run(new ThresholdRequest(IsFixed: false, picture, pipeline, milliseconds), Prepare),
                    Task.Run(new ThresholdRequest(IsFixed: true, picture, pipeline, milliseconds), Prepare)));
            }

            double own = Statistics.Median(pairs.Select(static pair => pair.Own.Milliseconds));
            double fixedOne = Statistics.Median(pairs.Select(static pair => pair.Fixed.Milliseconds));
            rows.Add(new ResultRow(
                [
                    picture is null ? Loop : Path.GetRelativePath(folder, picture),
                    picture is null ? "" : pipeline is null ? "decoded by Skia" : Pipeline.Get(pipeline).Title,
                ],
                [
                    own, fixedOne, Statistics.Median(pairs.Select(static pair => pair.Fixed.Milliseconds / pair.Own.Milliseconds)),
                    Statistics.Median(pairs.Select(static pair => pair.Own.KeptBytes / 1e6)),
                    Statistics.Median(pairs.Select(static pair => pair.Fixed.KeptBytes / 1e6)),
                ]));
        }

        return run.NewDocument("malloc's map threshold: as glibc adjusts it, and fixed at 1 MiB") with
        {
            Tables =
            [
                new ResultTable
                {
                    Title = "Processor time of one, and what malloc keeps of it",
                    Labels = ["work", "by"],
                    Columns =
                    [
                        new("adjusted", "ms", "0.00"), new("fixed", "ms", "0.00"), new("ratio", null, "0.00"),
                        new("adjusted: kept", "MB", "0.0"), new("fixed: kept", "MB", "0.0"),
                    ],
                    Rows = rows,
                },
            ],
            Notes =
            [
                Invariant($"Medians of {rounds} processes of each kind, in turn; in each the median of as many as fit {milliseconds} ms, ")
                    + "on one thread. Skia decodes into pooled memory, so what malloc is asked for is its own.",
                "SkiaSharp and Allocator.SkiaSharp make a whole thumbnail: decode, resize, encode, write.",
                "Kept: resident at the end, when the pool has returned its blocks, less what was resident before the first one. In both "
                    + "columns that includes the code compiled meanwhile and the decoder's library.",
            ],
        };
    }

    private static void Prepare(ProcessStartInfo start)
    {
        foreach (string name in new[] { "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES" })
        {
            start.Environment.Remove(name);
        }
    }

    private static ThresholdResult Run(ThresholdRequest request)
    {
        if (request.IsFixed && !NativeHeap.TrySetMapThreshold(Threshold))
        {
            throw new PlatformNotSupportedException("The C library has no map threshold.");
        }

        using PixelStore store = PixelStore.Create(AllocatorKind.Pool, TimeSpan.FromMinutes(1));
        Action work = TakeAndFree;
        string target = Path.Combine(Path.GetTempPath(), Invariant($"threshold-{Environment.ProcessId}.jpg"));
        if (request.Picture is string path)
        {
            byte[] file = File.ReadAllBytes(path);
            PictureHeader header = PictureHeader.Read(file, file.Length);
            work = () => header.Decode(file, store).Dispose();
            if (request.Pipeline is string name)
            {
                work = () => Pipeline.Get(name).Run(path, target).AsTask().GetAwaiter().GetResult();
            }
        }

        // Afterwards code is compiled, and malloc has freed what the work takes, which is how glibc adjusts itself.
        long before = ProcessMemory.ReadResident();
        work();
        work();
        List<double> times = [];
        long end = Environment.TickCount64 + request.Milliseconds;
        do
        {
            TimeSpan start = Environment.CpuUsage.TotalTime;
            work();
            times.Add((Environment.CpuUsage.TotalTime - start).TotalMilliseconds);
        }
        while (Environment.TickCount64 < end);
        File.Delete(target);
        store.Release();
        MemoryAllocator.Default.ReleaseRetainedResources();
        GC.Collect();
        return new ThresholdResult(Statistics.Median(times), Math.Max(0, ProcessMemory.ReadResident() - before));
    }

    private static void TakeAndFree()
    {
        byte* allocated = (byte*)NativeMemory.Alloc(LoopBytes);
        for (int i = 0; i < LoopBytes; i += PageBytes)
        {
            allocated[i] = 1;
        }

        NativeMemory.Free(allocated);
    }
}
