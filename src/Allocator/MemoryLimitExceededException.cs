using System;
using System.Globalization;

namespace Allocator;

/// <summary>Thrown when a request is larger than a limit its allocator was made with, or than what the memory budget had left for it in time. Nothing was allocated.</summary>
public sealed class MemoryLimitExceededException : InvalidOperationException
{
    /// <summary>Makes the exception, naming both numbers.</summary>
    /// <param name="requestedBytes">What was asked for, in bytes; <see cref="long.MaxValue"/> where the true size is larger than that.</param>
    /// <param name="limitBytes">The limit that it exceeds, in bytes.</param>
    public MemoryLimitExceededException(long requestedBytes, long limitBytes)
        : this(
            requestedBytes,
            limitBytes,
            Format(
                "{0} bytes were requested; the limit for one allocation is {1:N0} bytes ({2}.{3}).",
                Describe(requestedBytes),
                limitBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.AllocationLimitMegabytes)))
    {
    }

    private MemoryLimitExceededException(long requestedBytes, long limitBytes, string message)
        : base(message)
    {
        RequestedBytes = requestedBytes;
        LimitBytes = limitBytes;
    }

    /// <summary>Gets what was asked for, in bytes. It saturates at <see cref="long.MaxValue"/>.</summary>
    public long RequestedBytes { get; }

    /// <summary>Gets the limit that the request exceeds, in bytes: of one allocation, or of the memory budget.</summary>
    public long LimitBytes { get; }

    internal static MemoryLimitExceededException ForBudget(long requestedBytes, long budgetBytes) =>
        new(
            requestedBytes,
            budgetBytes,
            Format(
                "{0} bytes were requested; the memory budget is {1:N0} bytes ({2}.{3}), so they never fit.",
                Describe(requestedBytes),
                budgetBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)));

    internal static MemoryLimitExceededException ForTimeout(long requestedBytes, long budgetBytes, long usedBytes, TimeSpan timeout) =>
        new(
            requestedBytes,
            budgetBytes,
            Format(
                "{0} bytes were requested; {1:N0} of the memory budget of {2:N0} bytes are out or reserved{3}, and the call may wait for {4} ({5}.{6}). Asynchronous calls wait without blocking a thread.",
                Describe(requestedBytes),
                usedBytes,
                budgetBytes,
                requestedBytes <= budgetBytes - usedBytes ? ", what is left is kept for a request that came earlier" : "",
                timeout,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.BudgetTimeout)));

    internal static MemoryLimitExceededException ForStuckGrowth(long requestedBytes, long budgetBytes, long reservedBytes, long heldBytes, long peakBytes) =>
        new(
            requestedBytes,
            budgetBytes,
            Format(
                "{0} bytes were requested beyond a reservation of {1:N0} bytes, of which {2:N0} bytes are outstanding (at most {3:N0} were). No job runs that could make room in the memory budget of {4:N0} bytes, and of the reservations that wait this one is the youngest. Reserve the whole estimate of a job before it starts.",
                Describe(requestedBytes),
                reservedBytes,
                heldBytes,
                peakBytes,
                budgetBytes));

    internal static MemoryLimitExceededException ForCeiling(long requestedBytes, long budgetBytes, int attempts, long keptBytes) =>
        new(
            requestedBytes,
            budgetBytes,
            keptBytes > 0
                ? Format(
                    "{0} bytes were requested, and of the memory budget of {1:N0} bytes {2:N0} bytes are idle blocks, which MemoryAllocatorOptions.KeepBlocks keeps in the pool.",
                    Describe(requestedBytes),
                    budgetBytes,
                    keptBytes)
                : Format(
                    "{0} bytes were requested and fit the memory budget of {1:N0} bytes, but memory that is no longer in use did not go back to the system, although that was tried {2} times.",
                    Describe(requestedBytes),
                    budgetBytes,
                    attempts));

    internal static MemoryLimitExceededException ForContainer(long requestedBytes, long containerBytes, long leftBytes) =>
        new(
            requestedBytes,
            containerBytes,
            Format(
                "{0} bytes were requested; the container of {1:N0} bytes has {2:N0} bytes left, after all idle memory was given back, and would be killed for more ({3}.{4}). Run fewer jobs at once, reserve memory before a job starts, or raise the container's limit.",
                Describe(requestedBytes),
                containerBytes,
                leftBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.HonorMemoryLimit)));

    internal static MemoryLimitExceededException ForMinimumFree(long requestedBytes, long containerBytes, long minimumFreeBytes, long freeBytes) =>
        new(
            requestedBytes,
            containerBytes - minimumFreeBytes,
            Format(
                "{0} bytes were requested; {1:N0} of {2:N0} bytes are free, and {3:N0} have to stay so ({4}.{5}).",
                Describe(requestedBytes),
                freeBytes,
                containerBytes,
                minimumFreeBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.MinimumFreeMegabytes)));

    private static string Describe(long bytes) =>
        bytes == long.MaxValue ? "more than 9,223,372,036,854,775,806" : bytes.ToString("N0", CultureInfo.InvariantCulture);

    private static string Format(string format, params object[] values) => string.Format(CultureInfo.InvariantCulture, format, values);
}
