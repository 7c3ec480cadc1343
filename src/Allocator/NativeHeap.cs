using Allocator.Native;

namespace Allocator;

/// <summary>
/// Limits the freed memory that <c>malloc</c> keeps. That memory is not this library's: native codecs allocate and free it, glibc keeps it
/// for later calls, and it counts against a container's limit.
/// </summary>
/// <remarks>Works with glibc. With other C libraries, on Windows and on macOS methods return false and do nothing. Thread-safe.</remarks>
public static class NativeHeap
{
    /// <summary>Returns the free memory of malloc's arenas to the operating system, as <c>malloc_trim(0)</c> does.</summary>
    /// <returns>False if the C library has no such call.</returns>
    /// <remarks>
    /// Each arena is locked while its free memory is walked, so threads that allocate may wait: milliseconds in an idle process, tens of
    /// milliseconds under load. Call it after a burst of work, not after each image. The free end of a thread's arena stays: up to twice
    /// the largest allocation that was freed, unless <see cref="TrySetMapThreshold"/> was called at the start.
    /// </remarks>
    public static bool TryTrim() => LibC.TryTrimHeap();

    /// <summary>
    /// Makes malloc take each allocation of at least this size directly from the operating system, so that freeing it returns its memory
    /// at once. Without this call glibc begins at 128 KiB and raises the threshold, up to 32 MiB, whenever such an allocation is freed.
    /// </summary>
    /// <param name="bytes">The threshold in bytes; 1 MiB suits codecs. At most 32 MiB in 64-bit processes, 512 KiB in others.</param>
    /// <returns>False if the C library has no such call, or refuses.</returns>
    /// <remarks>
    /// Applies to the whole process, as <c>mallopt(M_MMAP_THRESHOLD)</c> and the environment variable <c>MALLOC_MMAP_THRESHOLD_</c> do.
    /// Call it once, at the start of the process: glibc does not synchronise it with allocations of other threads.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="bytes"/> is below 1, or above what glibc takes.</exception>
    public static bool TrySetMapThreshold(int bytes)
    {
        if (bytes < 1 || bytes > LibC.LargestMapThreshold)
        {
            Throw.OutOfRange(nameof(bytes), bytes, $"must be from 1 to {LibC.LargestMapThreshold}, the most that glibc takes");
        }

        return LibC.TrySetMapThreshold(bytes);
    }
}
