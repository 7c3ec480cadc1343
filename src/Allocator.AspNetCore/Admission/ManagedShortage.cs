namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Tells an <see cref="OutOfMemoryException"/> of a managed heap that is full from those that codecs throw for broken files.
/// </summary>
internal static class ManagedShortage
{
    // A response, or another small picture, would not fit either.
    private const int ProbeBytes = 1 << 20;

    // Of what the heap may have: the collector gives up a little before all of it is committed.
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
        // Of the collection before the exception: the heap was then as full as it was found.
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
