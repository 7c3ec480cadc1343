using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Measuring.Natives;

/// <summary>
/// The two functions of a native allocator's library, called through pointers. The process's own <c>malloc</c> stays what it is:
/// the library is loaded with local symbols. Thread-safe, as all these libraries are.
/// </summary>
/// <remarks>Calls make the same transition out of managed code as <see cref="NativeMemory"/>, so that both pay it.</remarks>
public sealed unsafe class NativeAllocator
{
    private readonly delegate* unmanaged[Cdecl]<nuint, void*> _allocate;
    private readonly delegate* unmanaged[Cdecl]<void*, void> _free;

    private NativeAllocator(NativeAllocatorLibrary library, nint handle)
    {
        _allocate = (delegate* unmanaged[Cdecl]<nuint, void*>)NativeLibrary.GetExport(handle, library.AllocateExport);
        _free = (delegate* unmanaged[Cdecl]<void*, void>)NativeLibrary.GetExport(handle, library.FreeExport);
        Name = library.Name;
        Version = NativeAllocatorVersion.Read(handle, (nint)_allocate);
    }

    public string Name { get; }

    /// <summary>Gets the version that the library tells, or else the name of its file if that is known; null where neither is.</summary>
    public string? Version { get; }

    /// <summary>
    /// Loads the library for the rest of the process's life. Where it cannot be had, returns false and the reason in
    /// <paramref name="reason"/>. See <see cref="NativeAllocatorEnvironment"/> for what jemalloc needs before the process starts.
    /// </summary>
    public static bool TryLoad(
        NativeAllocatorKind kind, [NotNullWhen(true)] out NativeAllocator? allocator, [NotNullWhen(false)] out string? reason)
    {
        NativeAllocatorLibrary library = NativeAllocatorLibrary.Find(kind);
        reason = null;
        foreach (string file in library.Files)
        {
            try
            {
                allocator = new NativeAllocator(library, NativeLibrary.Load(file));
                return true;
            }
            catch (Exception exception) when (exception is DllNotFoundException or BadImageFormatException or EntryPointNotFoundException)
            {
                // The message begins with general advice; the loader's own words about this file are its last line.
                string words = exception.Message.Trim();
                reason = $"{reason}{(reason is null ? null : "; ")}{words[(words.LastIndexOf('\n') + 1)..].Trim()}";
            }
        }

        allocator = null;
        reason ??= $"no file name of {library.Name} is known on this system";
        return false;
    }

    /// <summary>
    /// Allocates <paramref name="lengthInBytes"/> bytes, contents unspecified, which the caller gives to <see cref="Free"/>.
    /// </summary>
    /// <exception cref="OutOfMemoryException">The library has no memory.</exception>
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
    private void Throw(nuint lengthInBytes) => throw new OutOfMemoryException($"{Name} has no {lengthInBytes} bytes.");
}
