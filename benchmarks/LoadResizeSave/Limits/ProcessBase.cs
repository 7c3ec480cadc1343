namespace LoadResizeSave.Limits;

/// <summary>What a process in a container holds beside its pixels, and what that leaves for a budget.</summary>
/// <param name="Bytes">What is resident when all pixels are back: the runtime, compiled code, and what malloc keeps.</param>
internal readonly record struct ProcessBase(long Bytes)
{
    /// <summary>What the managed heap may grow to beside a native pool: rows, headers, and what <c>ArrayPool</c> keeps of them.</summary>
    public const long HeapLimitInBytes = 64 << 20;

    // Above nine tenths of a container's limit the pool gives up what is idle, and would fault it in again for the next picture.
    private const double CalmShare = 0.9;
    private const long Megabyte = 1 << 20;

    /// <exception cref="InvalidOperationException">Nothing is left.</exception>
    public int Budget(int limitMegabytes)
    {
        int budget = (int)(((CalmShare * limitMegabytes * Megabyte) - Bytes - HeapLimitInBytes) / Megabyte);
        return budget >= 1 ? budget : throw new InvalidOperationException($"The process alone takes {Bytes / Megabyte} MiB, and its "
            + $"heap up to {HeapLimitInBytes / Megabyte}: {limitMegabytes} MiB leave nothing for pixels.");
    }
}
