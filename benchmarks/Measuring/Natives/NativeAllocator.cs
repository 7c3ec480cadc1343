using System.Diagnostics.CodeAnalysis;

namespace Measuring.Natives;

/// <summary>The native allocators that programs compare with where the system has them.</summary>
public enum NativeAllocatorKind
{
    Mimalloc,

    Jemalloc,

    Tbb,
}

/// <summary>
/// The two functions of a native allocator's library, called through pointers. The process's own <c>malloc</c> stays what it is: the
/// library is loaded with local symbols. Thread-safe, as all these libraries are.
/// </summary>
/// <remarks>Calls make the same transition out of managed code as <see cref="NativeMemory"/>, so that both pay it.</remarks>
public sealed unsafe class NativeAllocator
{
    // jemalloc as Debian builds it wants 2,632 bytes of static thread-local storage; glibc keeps 512 for libraries that are loaded late,
    // and refuses ("cannot allocate memory in static TLS block").
    private const string Tunables = "GLIBC_TUNABLES";
    private const string StaticTlsRoom = "glibc.rtld.optional_static_tls=4096";

    private readonly delegate* unmanaged[Cdecl]<nuint, void*> _allocate;
    private readonly delegate* unmanaged[Cdecl]<void*, void> _free;

    private NativeAllocator(nint library, string prefix, string file)
    {
        _allocate = (delegate* unmanaged[Cdecl]<nuint, void*>)NativeLibrary.GetExport(library, prefix + "malloc");
        _free = (delegate* unmanaged[Cdecl]<void*, void>)NativeLibrary.GetExport(library, prefix + "free");
        Version = file;
    }

    /// <summary>Gets the name of the library's file, which has the version.</summary>
    public string Version { get; }

    /// <summary>
    /// Prepares the environment of a process to be started, so that it can load all the allocators. To be fair it is done for each of them
    /// alike. Systems without glibc ignore it.
    /// </summary>
    public static void Prepare(ProcessStartInfo start)
    {
        start.Environment.TryGetValue(Tunables, out string? others);
        start.Environment[Tunables] = string.IsNullOrEmpty(others) ? StaticTlsRoom : $"{others}:{StaticTlsRoom}";
    }

    /// <summary>Loads the library for the rest of the process's life; where it cannot be had, returns the reason.</summary>
    public static bool TryLoad(
        NativeAllocatorKind kind, [NotNullWhen(true)] out NativeAllocator? allocator, [NotNullWhen(false)] out string? reason)
    {
        // Looked up in the library itself, malloc is jemalloc's own.
        (string name, string prefix, int[] versions) = kind switch
        {
            NativeAllocatorKind.Mimalloc => ("mimalloc", "mi_", (int[])[3, 2]),
            NativeAllocatorKind.Jemalloc => ("jemalloc", OperatingSystem.IsLinux() ? "" : "je_", [2]),
            _ => ("tbbmalloc", "scalable_", [2]),
        };
        IEnumerable<string> files = OperatingSystem.IsWindows() ? [$"{name}.dll"]
            : OperatingSystem.IsMacOS() ? [.. versions.Select(version => $"lib{name}.{version}.dylib"), $"lib{name}.dylib"]
            : versions.Select(version => $"lib{name}.so.{version}");
        foreach (string file in files)
        {
            if (NativeLibrary.TryLoad(file, out nint library))
            {
                allocator = new NativeAllocator(library, prefix, FileOf(name) ?? file);
                reason = null;
                return true;
            }
        }

        allocator = null;
        reason = $"none of {string.Join(", ", files)} can be loaded";
        return false;
    }

    /// <summary>
    /// Allocates <paramref name="lengthInBytes"/> bytes, contents unspecified, which the caller gives to <see cref="Free"/>.
    /// </summary>
    public void* Allocate(nuint lengthInBytes)
    {
        void* memory = _allocate(lengthInBytes);
        if (memory is null)
        {
            Throw(lengthInBytes);
        }

        return memory;
    }

    public void Free(void* memory) => _free(memory);

    [DoesNotReturn]
    private void Throw(nuint lengthInBytes) => throw new OutOfMemoryException($"{Version} has no {lengthInBytes} bytes.");

    // proc(5): the path is the last of the fields of a mapping, and no link.
    private static string? FileOf(string name) => File.Exists("/proc/self/maps")
        ? File.ReadLines("/proc/self/maps").Select(Path.GetFileName).FirstOrDefault(
            file => file!.StartsWith("lib" + name, StringComparison.Ordinal))
        : null;
}
