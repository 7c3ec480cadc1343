namespace Measurements.Heaps;

/// <summary>What a batch allocates.</summary>
/// <param name="SizeInBytes">The size of a block, in bytes.</param>
/// <param name="Blocks">How many are held at once, and allocated and freed in one batch; a multiple of 4.</param>
/// <param name="IsTouched">Whether one byte of each page is written after a block is allocated, within the time of the allocation.</param>
internal sealed record SizeClass(int SizeInBytes, int Blocks, bool IsTouched)
{
    public string Name => IsTouched ? $"{Size}, touched" : Size;

    public string Title => $"{Size}, batches of {Blocks}, {(IsTouched ? "one byte of each page written" : "memory not touched")}";

    private string Size => SizeInBytes switch
    {
        >= 1 << 20 => Invariant($"{SizeInBytes >> 20} MiB"),
        >= 1 << 10 => Invariant($"{SizeInBytes >> 10} KiB"),
        _ => Invariant($"{SizeInBytes} B"),
    };
}

/// <summary>One of the figures that a child's result has.</summary>
internal sealed record Figure(string Name, string Unit, Func<HeapResult, double> Read)
{
    private const double Megabyte = 1e6;

    // Nanoseconds each are milliseconds a million.
    public static Figure AllocateTime { get; } = new("AllocTime", "ms per million", result => result.AllocateNanoseconds.Average());

    public static Figure FreeTime { get; } = new("FreeTime", "ms per million", result => result.FreeNanoseconds.Average());

    public static Figure PeakMemory { get; } = new("PeakMem", "MB", result => result.PeakBytes / Megabyte);

    /// <summary>Gets the peak without what the process with all its threads occupied before the first allocation.</summary>
    public static Figure HeapMemory { get; } = new("of which heap", "MB", result => (result.PeakBytes - result.IdleBytes) / Megabyte);

    public string Title => $"{Name}, {Unit}";
}

/// <summary>What was asked for, and all that the children found.</summary>
internal sealed class HeapFigures(
    IReadOnlyList<HeapKind> heaps, IReadOnlyList<int> threads, IReadOnlyList<SizeClass> classes, int runs)
{
    private readonly Dictionary<(SizeClass Class, HeapKind Heap, int Threads), HeapResult> _results = [];

    public IReadOnlyList<HeapKind> AllHeaps => heaps;

    public IReadOnlyList<int> Threads => threads;

    public IReadOnlyList<SizeClass> Classes => classes;

    public int Runs => runs;

    /// <summary>Gets the heaps that the system has and that gave results, in the order of the tables.</summary>
    public IReadOnlyList<HeapKind> Heaps => [.. heaps.Where(heap => _results.Keys.Any(key => key.Heap == heap))];

    public double ClockNanoseconds => Statistics.Median(_results.Values.Select(result => result.ClockNanoseconds).DefaultIfEmpty(0));

    public void Add(HeapRequest request, HeapResult result) => _results.Add((request.Class, request.Heap, request.Threads), result);

    public string? Version(HeapKind heap) => _results.FirstOrDefault(pair => pair.Key.Heap == heap).Value?.Version;

    /// <summary>Returns a figure for each number of threads; null where there is none.</summary>
    public IReadOnlyList<double?> Series(SizeClass sizeClass, HeapKind heap, Func<HeapResult, double> figure)
        =>
        [
            .. threads.Select(
                count => _results.TryGetValue((sizeClass, heap, count), out HeapResult? result) ? figure(result) : (double?)null),
        ];
}

/// <summary>Names what is compared.</summary>
internal enum HeapKind
{
    /// <summary>This library's pool, by <c>Allocate&lt;byte&gt;</c>: an owner, which the GC collects.</summary>
    PoolOwner,

    /// <summary>This library's pool, by <c>Rent&lt;byte&gt;</c>: a lease on the stack.</summary>
    PoolLease,

    ArrayPool,
    NativeMemory,
    Mimalloc,
    Jemalloc,
    Tbb,
}

/// <summary>What the heaps are called.</summary>
internal static class HeapNames
{
    private static readonly string[] s_names = ["pool, owner", "pool, lease", "ArrayPool", "NativeMemory", "mimalloc", "jemalloc", "TBB"];

    /// <summary>Gets the names for the command line.</summary>
    public static IReadOnlyList<string> OfOptions { get; } = [.. s_names.Select(name => name.ToLowerInvariant().Replace(", ", "-"))];

    public static string Of(HeapKind kind) => s_names[(int)kind];

    public static HeapKind Parse(string option) => (HeapKind)OfOptions.Index().First(name => name.Item == option).Index;
}
