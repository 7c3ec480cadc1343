namespace Allocator.Benchmarks.Jobs;

/// <summary>The project's main job, by the code of the program <c>LoadResizeSave</c>: loads, resizes and saves four photographs.</summary>
[MemoryDiagnoser]
public class LoadResizeSaveBenchmarks
{
    private const int Pictures = 4;

    private PixelStore? _store;
    private PicturePipeline? _pipeline;
    private string _input = "";
    private IReadOnlyList<string> _names = [];

    /// <summary>Gets how many pictures may be worked on at once: one, and as many as there are processors.</summary>
    public static IEnumerable<int> Parallelisms => new[] { 1, Environment.ProcessorCount }.Distinct();

    [ParamsSource(nameof(Parallelisms))]
    public int PicturesAtOnce { get; set; }

    [GlobalSetup(Target = nameof(Pool))]
    public void SetUpPool() => Start(AllocatorKind.Pool);

    [GlobalSetup(Target = nameof(Unpooled))]
    public void SetUpUnpooled() => Start(AllocatorKind.Unpooled);

    [GlobalSetup(Target = nameof(ArrayPool))]
    public void SetUpArrayPool() => Start(AllocatorKind.ArrayPool);

    [GlobalSetup(Target = nameof(Collector))]
    public void SetUpCollector() => Start(AllocatorKind.GC);

    [GlobalCleanup]
    public void CleanUp() => _store!.Dispose();

    [Benchmark(Baseline = true, Description = "ArrayPool", OperationsPerInvoke = Pictures)]
    public void ArrayPool() => Work();

    [Benchmark(Description = "pool", OperationsPerInvoke = Pictures)]
    public void Pool() => Work();

    [Benchmark(Description = "unpooled", OperationsPerInvoke = Pictures)]
    public void Unpooled() => Work();

    [Benchmark(Description = "GC arrays", OperationsPerInvoke = Pictures)]
    public void Collector() => Work();

    private void Start(AllocatorKind kind)
    {
        // Beside the program, which lies in the build's outputs wherever the command was typed.
        string folder = Path.Combine(AppContext.BaseDirectory, "load-resize-save");
        _ = Directory.CreateDirectory(folder);
        SyntheticSet photographs = new(Pictures, megapixels: 4);
        _input = photographs.FolderIn(folder);
        photographs.Make(_input, (_, _) => { }, CancellationToken.None);
        _names = [.. PictureFolder.Find(_input).Where(IsPhotograph)];
        if (_names.Count != Pictures)
        {
            throw new InvalidOperationException($"{_input} should hold {Pictures} photographs and holds {_names.Count}: delete it.");
        }

        _store = PixelStore.Create(kind, TimeSpan.FromMinutes(1));
        _pipeline = new PicturePipeline(_store, Path.Combine(folder, "saved", kind.ToString()));
    }

    // The set has two files beside its photographs that no decoder accepts; the program shows that it survives them.
    private static bool IsPhotograph(string name) => name.StartsWith("photograph", StringComparison.Ordinal);

    private void Work()
        => Parallel.ForEach(
            _names,
            new ParallelOptions { MaxDegreeOfParallelism = PicturesAtOnce },
            name => _pipeline!.ProcessAsync(_input, name).AsTask().GetAwaiter().GetResult());
}
