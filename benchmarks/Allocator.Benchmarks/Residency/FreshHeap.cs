namespace Allocator.Benchmarks.Residency;

/// <summary>Keeps the heap of the GNU C library from handing out memory again that it was given back.</summary>
internal static partial class FreshHeap
{
    // M_MMAP_THRESHOLD in malloc.h.
    private const int MapThreshold = -3;

    /// <summary>
    /// Has every allocation above 64 KiB come from a mapping of its own, which is unmapped when it is freed. Left alone, the heap does so
    /// for sizes that it has not had to free yet, and recycles up to 32 MiB afterwards. Says so on the console where it cannot be had.
    /// </summary>
    public static void Require()
    {
        try
        {
            if (SetOption(MapThreshold, 64 << 10) == 1)
            {
                return;
            }
        }
        catch (Exception exception) when (exception is DllNotFoundException or EntryPointNotFoundException)
        {
        }

        Console.WriteLine("// This heap has no M_MMAP_THRESHOLD: what it hands out below 32 MB may be recycled and not fresh.");
    }

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetOption(int option, int value);
}
