namespace LoadResizeSave.Limits;

/// <summary>What a process in a container holds beside its pixels, and what that leaves for a budget.</summary>
/// <param name="Bytes">What is resident when all pixels are back: the runtime, compiled code, and what malloc keeps.</param>
internal readonly record struct ProcessBase(long Bytes)
{
    /// <summary>What the managed heap may grow to beside a native pool: rows, headers, and what <c>ArrayPool</c> keeps of them.</summary>
    public const long HeapLimitInBytes = 64 << 20;

    // glibc raises the size from which on memory goes back to the system to that of what was freed last: a codec's freed memory would
    // stay, and differently in each run.
    private const string MappedFromBytes = "1048576";

    // Above nine tenths of a container's limit the pool gives up what is idle, and would fault it in again for the next picture.
    private const double CalmShare = 0.9;
    private const long Megabyte = 1 << 20;

    /// <summary>
    /// Sets the environment of a process in a container. A budget and a limit of the heap go together; without a budget the choice is left
    /// to the runtime: three quarters of the container.
    /// </summary>
    public static void Prepare(ProcessStartInfo start, bool hasBudget)
    {
        start.Environment["MALLOC_MMAP_THRESHOLD_"] = MappedFromBytes;
        if (hasBudget)
        {
            start.Environment["DOTNET_GCHeapHardLimit"] = HeapLimitInBytes.ToString("x", CultureInfo.InvariantCulture);
        }
    }

    public int Budget(int limitMegabytes)
    {
        int budget = (int)(((CalmShare * limitMegabytes * Megabyte) - Bytes - HeapLimitInBytes) / Megabyte);
        return budget >= 1 ? budget : throw new InvalidOperationException($"The process alone takes {Bytes / Megabyte} MiB, and its "
            + $"heap up to {HeapLimitInBytes / Megabyte}: {limitMegabytes} MiB leave nothing for pixels.");
    }
}
