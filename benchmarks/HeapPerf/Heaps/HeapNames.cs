using System;
using System.Collections.Generic;
using System.Linq;

namespace HeapPerf.Heaps;

/// <summary>What the heaps are called, in tables and on the command line.</summary>
internal static class HeapNames
{
    /// <summary>Gets the names for the command line.</summary>
    public static IReadOnlyList<string> OfOptions { get; } = [.. Enum.GetValues<HeapKind>().Select(OfOption)];

    /// <summary>Returns the heading of <paramref name="kind"/>.</summary>
    public static string Of(HeapKind kind) => kind switch
    {
        HeapKind.PoolOwner => "pool, owner",
        HeapKind.PoolLease => "pool, lease",
        HeapKind.ArrayPool => "ArrayPool",
        HeapKind.NativeMemory => "NativeMemory",
        HeapKind.Mimalloc => "mimalloc",
        HeapKind.Jemalloc => "jemalloc",
        HeapKind.Tbb => "TBB",
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    /// <summary>Returns the name of <paramref name="kind"/> as it is typed.</summary>
    public static string OfOption(HeapKind kind) => Of(kind).ToLowerInvariant().Replace(", ", "-", StringComparison.Ordinal);

    /// <summary>Returns the heap whose name as it is typed is <paramref name="option"/>.</summary>
    public static HeapKind Parse(string option) => Enum.GetValues<HeapKind>().First(kind => OfOption(kind) == option);

    /// <summary>Returns whether <paramref name="kind"/> is this library's.</summary>
    public static bool IsPool(HeapKind kind) => kind is HeapKind.PoolOwner or HeapKind.PoolLease;
}
