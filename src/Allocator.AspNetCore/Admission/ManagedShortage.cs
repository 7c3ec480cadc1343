namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Decides whether an <see cref="OutOfMemoryException"/> means that the managed heap is full. Codecs throw it for broken files too.
/// </summary>
internal static class ManagedShortage
{
    // With less than this free, not even a response or a small picture can be created.
    private const int ProbeBytes = 1 << 20;

    // A part of the heap's limit, because the collector gives up shortly before all of it is committed.
    private const double NearlyAll = 0.85;

    private const int MostLevels = 16;

    /// <summary>Returns whether an endpoint failed because memory is short.</summary>
    public static bool IsCauseOf(Exception exception) => Find(exception, MostLevels) && IsShort();

    private static bool Find(Exception? exception, int levels) => levels > 0 && exception switch
    {
        null => false,
        OutOfMemoryException => true,
        AggregateException { InnerExceptions: { } all } => all.Any(one => Find(one, levels - 1)),
        _ => Find(exception.InnerException, levels - 1),
    };

    private static bool IsShort()
    {
        // The figures of the last collection before the exception.
        GCMemoryInfo info = GC.GetGCMemoryInfo(GCKind.Any);
        if (info.MemoryLoadBytes >= info.HighMemoryLoadThresholdBytes
            || info.TotalCommittedBytes >= NearlyAll * info.TotalAvailableMemoryBytes)
        {
            return true;
        }

        try
        {
            GC.KeepAlive(GC.AllocateUninitializedArray<byte>(ProbeBytes));
            return false;
        }
        catch (OutOfMemoryException)
        {
            return true;
        }
    }
}
