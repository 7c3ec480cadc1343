namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Finds the refusal behind an exception of an endpoint: codecs wrap their allocator's exceptions, and adapters whose exception takes no
/// cause keep it in its data.
/// </summary>
internal static class RefusalCause
{
    // The name that the adapters of the guides use.
    private const string DataKey = "Allocator.Refusal";

    // Far deeper than any codec goes. An exception whose data contains itself would have no end.
    private const int MostLevels = 16;

    /// <summary>Returns the refusal. Null if memory is not the cause.</summary>
    public static MemoryLimitExceededException? Find(Exception? exception) => Find(exception, MostLevels);

    private static MemoryLimitExceededException? Find(Exception? exception, int levels)
    {
        if (exception is null or MemoryLimitExceededException || levels == 0)
        {
            return exception as MemoryLimitExceededException;
        }

        if (Find(exception.Data[DataKey] as Exception, levels - 1) is { } kept)
        {
            return kept;
        }

        if (exception is AggregateException { InnerExceptions: { } all })
        {
            foreach (Exception one in all)
            {
                if (Find(one, levels - 1) is { } found)
                {
                    return found;
                }
            }

            return null;
        }

        return Find(exception.InnerException, levels - 1);
    }
}
