using System;
using System.Collections.Generic;

namespace Measuring.Natives;

/// <summary>The native allocators that programs compare with where the system has them.</summary>
public enum NativeAllocatorKind
{
    Mimalloc,

    Jemalloc,

    Tbb,
}

/// <summary>Where an allocator's functions are found.</summary>
/// <param name="Files">The names of the library, the likeliest first.</param>
internal sealed record NativeAllocatorLibrary(string Name, string AllocateExport, string FreeExport, IReadOnlyList<string> Files)
{
    public static NativeAllocatorLibrary Find(NativeAllocatorKind kind) => kind switch
    {
        NativeAllocatorKind.Mimalloc => new("mimalloc", "mi_malloc", "mi_free", FileNames("mimalloc", 3, 2)),
        // Looked up in the library itself, these two are jemalloc's own even where it was built without a prefix.
        NativeAllocatorKind.Jemalloc => OperatingSystem.IsLinux()
            ? new("jemalloc", "malloc", "free", FileNames("jemalloc", 2))
            : new("jemalloc", "je_malloc", "je_free", FileNames("jemalloc", 2)),
        NativeAllocatorKind.Tbb => new("TBB scalable_malloc", "scalable_malloc", "scalable_free", FileNames("tbbmalloc", 2)),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    // A name without a version belongs to the packages for developers; with one it is what a program would load.
    private static string[] FileNames(string name, params int[] versions)
    {
        if (OperatingSystem.IsWindows())
        {
            return [$"{name}.dll"];
        }

        if (OperatingSystem.IsMacOS())
        {
            return [.. Array.ConvertAll(versions, version => $"lib{name}.{version}.dylib"), $"lib{name}.dylib"];
        }

        return [.. Array.ConvertAll(versions, version => $"lib{name}.so.{version}")];
    }
}
