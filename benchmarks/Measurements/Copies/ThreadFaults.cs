using System.Runtime.InteropServices;

namespace Measurements.Copies;

/// <summary>
/// Counts this thread's page faults that were served without the disk: each is a page of memory that the system has just provided.
/// </summary>
internal static unsafe partial class ThreadFaults
{
    // getrusage(2): RUSAGE_THREAD, and the place of ru_minflt among the words of struct rusage, which are of one size each.
    private const int OfThisThread = 1;
    private const int MinorFaults = 8;
    private const int Words = 18;

    /// <summary>Gets whether the system tells.</summary>
    public static bool AreCounted { get; } = OperatingSystem.IsLinux() && Environment.Is64BitProcess;

    /// <summary>Returns how many there have been; 0 where <see cref="AreCounted"/> is false.</summary>
    public static long Read()
    {
        long* usage = stackalloc long[Words];
        return AreCounted && GetResourceUsage(OfThisThread, usage) == 0 ? usage[MinorFaults] : 0;
    }

    [LibraryImport("libc", EntryPoint = "getrusage")]
    private static partial int GetResourceUsage(int who, long* usage);
}
