using System;
using System.Globalization;

namespace Allocator;

/// <summary>
/// Thrown when a request is larger than a limit its allocator was made with, or than what the memory budget had left for it in time.
/// Nothing was allocated.
/// </summary>
/// <remarks>
/// <see cref="IsTransient"/> says whether the same request may succeed later: a web service answers 503 where it may, and 413 where it
/// never will.
/// </remarks>
public sealed class MemoryLimitExceededException : InvalidOperationException
{
    /// <summary>Makes the exception for a request above the limit for one allocation, naming both numbers. It is not transient.</summary>
    /// <param name="requestedBytes">
    /// What was asked for, in bytes; <see cref="long.MaxValue"/> where the true size is larger than that.
    /// </param>
    /// <param name="limitBytes">The limit that it exceeds, in bytes.</param>
    public MemoryLimitExceededException(long requestedBytes, long limitBytes)
        : this(
            requestedBytes,
            limitBytes,
            limitBytes,
            isTransient: false,
            Format(
                "{0} bytes were requested; the limit for one allocation is {1:N0} bytes ({2}.{3}).",
                Describe(requestedBytes),
                limitBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.AllocationLimitMegabytes)))
    {
    }

    private MemoryLimitExceededException(long requestedBytes, long limitBytes, long availableBytes, bool isTransient, string message)
        : base(message)
    {
        RequestedBytes = requestedBytes;
        LimitBytes = limitBytes;
        AvailableBytes = Math.Max(0, availableBytes);
        IsTransient = isTransient;
    }

    /// <summary>Gets what was asked for, in bytes. It saturates at <see cref="long.MaxValue"/>.</summary>
    public long RequestedBytes { get; }

    /// <summary>Gets the limit that the request exceeds, in bytes: of one allocation, or of the memory budget.</summary>
    public long LimitBytes { get; }

    /// <summary>
    /// Gets how many bytes of the limit were free when the request was refused. A request that never fits: the whole limit, which is
    /// what the largest request may have.
    /// More may be free than was asked for, where it is kept for requests that came earlier; and 0 where free memory was not to be had.
    /// </summary>
    public long AvailableBytes { get; }

    /// <summary>
    /// Gets whether the same request may succeed later, when others have returned memory. <see langword="false"/>: it never fits, alone
    /// or beside what its own <see cref="MemoryReservation"/> is charged with.
    /// </summary>
    public bool IsTransient { get; }

    /// <summary>A request that is larger than the whole budget, alone or with what its reservation has reserved. Not transient.</summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="budgetBytes">The budget.</param>
    /// <param name="reservedBytes">What its reservation has reserved, where the request was to grow it.</param>
    internal static MemoryLimitExceededException ForBudget(long requestedBytes, long budgetBytes, long reservedBytes = 0) =>
        new(
            requestedBytes,
            budgetBytes,
            budgetBytes - reservedBytes,
            isTransient: false,
            Format(
                "{0} bytes were requested{1}; the memory budget is {2:N0} bytes ({3}.{4}), so they never fit.",
                Describe(requestedBytes),
                reservedBytes == 0 ? "" : Format(" beside a reservation of {0:N0} bytes", reservedBytes),
                budgetBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)));

    /// <summary>
    /// A request for which the budget had no room in time. Transient, unless what its reservation holds leaves no room for it in the
    /// whole budget.
    /// </summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="budgetBytes">The budget.</param>
    /// <param name="usedBytes">What of the budget was taken.</param>
    /// <param name="neededBytes">What the budget would have been charged with for the request, with the rest of its reservation.</param>
    /// <param name="timeout">How long the call was to wait.</param>
    /// <param name="isBudgetTimeout">Whether the options say so, rather than the call.</param>
    internal static MemoryLimitExceededException ForTimeout(
        long requestedBytes, long budgetBytes, long usedBytes, long neededBytes, TimeSpan timeout, bool isBudgetTimeout) =>
        new(
            requestedBytes,
            budgetBytes,
            budgetBytes - usedBytes,
            neededBytes <= budgetBytes,
            Format(
                "{0} bytes were requested; {1:N0} of the memory budget of {2:N0} bytes are out or reserved{3}, "
                    + "and the call may wait for {4} ({5}).{6}",
                Describe(requestedBytes),
                usedBytes,
                budgetBytes,
                requestedBytes <= budgetBytes - usedBytes ? ", what is left is kept for a request that came earlier" : "",
                timeout,
                isBudgetTimeout ? $"{nameof(MemoryAllocatorOptions)}.{nameof(MemoryAllocatorOptions.BudgetTimeout)}" : "its own timeout",
                isBudgetTimeout ? " Asynchronous calls wait without blocking a thread." : ""));

    /// <summary>
    /// Growth of a reservation that waited for others, which waited for it. Transient, unless what the reservation holds leaves no room
    /// for it in the whole budget.
    /// </summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="budgetBytes">The budget.</param>
    /// <param name="usedBytes">What of the budget was taken.</param>
    /// <param name="neededBytes">What the budget would have been charged with for the request, with the rest of its reservation.</param>
    /// <param name="reservedBytes">What the reservation has reserved.</param>
    /// <param name="heldBytes">What it had outstanding.</param>
    /// <param name="peakBytes">The most that it ever had outstanding.</param>
    internal static MemoryLimitExceededException ForStuckGrowth(
        long requestedBytes, long budgetBytes, long usedBytes, long neededBytes, long reservedBytes, long heldBytes, long peakBytes) =>
        new(
            requestedBytes,
            budgetBytes,
            budgetBytes - usedBytes,
            neededBytes <= budgetBytes,
            Format(
                "{0} bytes were requested beyond a reservation of {1:N0} bytes, of which {2:N0} bytes are outstanding (at most {3:N0} "
                    + "were). No job runs that could make room in the memory budget of {4:N0} bytes, and of the reservations that wait "
                    + "this one is the youngest. Reserve the whole estimate of a job before it starts.",
                Describe(requestedBytes),
                reservedBytes,
                heldBytes,
                peakBytes,
                budgetBytes));

    /// <summary>
    /// A request that fits the budget, but idle memory did not go for it. Transient, unless kept blocks leave no room for it.
    /// </summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="budgetBytes">The budget.</param>
    /// <param name="attempts">How often it was tried.</param>
    /// <param name="keptBytes">What lies idle in blocks that are kept; 0 where none are.</param>
    internal static MemoryLimitExceededException ForCeiling(long requestedBytes, long budgetBytes, int attempts, long keptBytes) =>
        new(
            requestedBytes,
            budgetBytes,
            availableBytes: 0,
            requestedBytes <= budgetBytes - keptBytes,
            keptBytes > 0
                ? Format(
                    "{0} bytes were requested, and of the memory budget of {1:N0} bytes {2:N0} bytes are idle blocks, which "
                        + "MemoryAllocatorOptions.KeepBlocks keeps in the pool.",
                    Describe(requestedBytes),
                    budgetBytes,
                    keptBytes)
                : Format(
                    "{0} bytes were requested and fit the memory budget of {1:N0} bytes, but memory that is no longer in use did not "
                        + "go back to the system, although that was tried {2} times.",
                    Describe(requestedBytes),
                    budgetBytes,
                    attempts));

    /// <summary>A request that the container certainly has no memory for. Transient, unless the container is smaller.</summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="containerBytes">The limit of the container.</param>
    /// <param name="leftBytes">What of it is left, with all that could be reclaimed, and less what was granted to others just now.</param>
    internal static MemoryLimitExceededException ForContainer(long requestedBytes, long containerBytes, long leftBytes) =>
        new(
            requestedBytes,
            containerBytes,
            leftBytes,
            requestedBytes <= containerBytes,
            Format(
                "{0} bytes were requested; the container of {1:N0} bytes has {2:N0} bytes left, after all idle memory was given back, "
                    + "and would be killed for more ({3}.{4}). Run fewer jobs at once, reserve memory before a job starts, or raise "
                    + "the container's limit.",
                Describe(requestedBytes),
                containerBytes,
                leftBytes,
                nameof(MemoryAllocatorOptions),
                nameof(MemoryAllocatorOptions.HonorMemoryLimit)));

    /// <summary>
    /// A request that would leave too little of the container free. Transient, unless it would even if nothing else were used.
    /// </summary>
    /// <param name="requestedBytes">What was asked for.</param>
    /// <param name="neededBytes">That with the rest of its reservation.</param>
    /// <param name="containerBytes">The limit of the container, or the memory of the machine.</param>
    /// <param name="minimumFreeBytes">What has to stay free.</param>
    /// <param name="freeBytes">What is free.</param>
    internal static MemoryLimitExceededException ForMinimumFree(
        long requestedBytes, long neededBytes, long containerBytes, long minimumFreeBytes, long freeBytes) =>
        new(
            requestedBytes,
            containerBytes - minimumFreeBytes,
            freeBytes - minimumFreeBytes,
            neededBytes <= containerBytes - minimumFreeBytes,
            Format(
                "{0} bytes were requested; {1:N0} of {2:N0} bytes are free, of which others have reserved a part, and {3:N0} have to "
                    + "stay so ({4}.{5}).",
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
