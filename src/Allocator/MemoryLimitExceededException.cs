using System;
using System.Globalization;

namespace Allocator;

/// <summary>Thrown when a request is larger than the limit its allocator was made with. Nothing was allocated.</summary>
public sealed class MemoryLimitExceededException : InvalidOperationException
{
    /// <summary>Makes the exception, naming both numbers.</summary>
    /// <param name="requestedBytes">What was asked for, in bytes; <see cref="long.MaxValue"/> where the true size is larger than that.</param>
    /// <param name="limitBytes">The limit that it exceeds, in bytes.</param>
    public MemoryLimitExceededException(long requestedBytes, long limitBytes)
        : base(Describe(requestedBytes, limitBytes))
    {
        RequestedBytes = requestedBytes;
        LimitBytes = limitBytes;
    }

    /// <summary>Gets what was asked for, in bytes. It saturates at <see cref="long.MaxValue"/>.</summary>
    public long RequestedBytes { get; }

    /// <summary>Gets the limit that the request exceeds, in bytes.</summary>
    public long LimitBytes { get; }

    private static string Describe(long requestedBytes, long limitBytes)
    {
        string requested = requestedBytes == long.MaxValue
            ? "more than 9,223,372,036,854,775,806"
            : requestedBytes.ToString("N0", CultureInfo.InvariantCulture);
        return string.Format(
            CultureInfo.InvariantCulture,
            "{0} bytes were requested; the limit for one allocation is {1:N0} bytes ({2}.{3}).",
            requested,
            limitBytes,
            nameof(MemoryAllocatorOptions),
            nameof(MemoryAllocatorOptions.AllocationLimitMegabytes));
    }
}
