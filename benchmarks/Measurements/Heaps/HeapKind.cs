namespace Measurements.Heaps;

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

    public static bool IsPool(HeapKind kind) => kind is HeapKind.PoolOwner or HeapKind.PoolLease;
}
