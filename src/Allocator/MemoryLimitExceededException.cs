namespace Allocator;

/// <summary>Thrown when a request exceeds a limit of its allocator, or the budget had no room in time. Nothing was allocated.</summary>
/// <remarks>A web service answers 503 if <see cref="IsTransient"/> says that it may succeed later, and otherwise 413.</remarks>
public sealed class MemoryLimitExceededException : InvalidOperationException
{
    private const string OptionsName = nameof(MemoryAllocatorOptions);

    /// <summary>Makes the exception for a request above the limit for one allocation. It is not transient.</summary>
    /// <param name="requestedBytes">The bytes asked for; <see cref="long.MaxValue"/> if there were more than that.</param>
    /// <param name="limitBytes">The limit that it exceeds, in bytes.</param>
    public MemoryLimitExceededException(long requestedBytes, long limitBytes)
        : this(requestedBytes, limitBytes, limitBytes, isTransient: false, Invariant(
            $"; the limit for one allocation is {limitBytes:N0} bytes ")
            + $"({OptionsName}.{nameof(MemoryAllocatorOptions.AllocationLimitMegabytes)}). Refuse such input, or raise the limit.")
    {
    }

    private MemoryLimitExceededException(long requestedBytes, long limitBytes, long availableBytes, bool isTransient, string reason)
        : base(
            (requestedBytes == long.MaxValue ? "more than 9,223,372,036,854,775,806" : Invariant($"{requestedBytes:N0}"))
                + " bytes were requested" + reason)
    {
        RequestedBytes = requestedBytes;
        LimitBytes = limitBytes;
        AvailableBytes = Math.Max(0, availableBytes);
        IsTransient = isTransient;
    }

    /// <summary>Gets the bytes asked for. The number saturates at <see cref="long.MaxValue"/>.</summary>
    public long RequestedBytes { get; }

    /// <summary>Gets the limit that the request exceeds, in bytes: of one allocation, or of the memory budget.</summary>
    public long LimitBytes { get; }

    /// <summary>
    /// Gets how many bytes of the limit were free when the request was refused. A request that never fits: the whole limit. More may be
    /// free than was asked for, if it is kept for requests that came earlier. It is 0 if free memory could not be used.
    /// </summary>
    public long AvailableBytes { get; }

    /// <summary>
    /// Gets whether the same request may succeed later, when others have returned memory: a web service answers <c>503 Service
    /// Unavailable</c>, with <c>Retry-After</c>. <see langword="false"/>: it never fits, alone or beside what its own
    /// <see cref="MemoryReservation"/> is charged with: <c>413 Content Too Large</c>.
    /// </summary>
    public bool IsTransient { get; }

    /// <summary>For a request larger than the whole budget, alone or with what its reservation has reserved. Not transient.</summary>
    internal static MemoryLimitExceededException ForBudget(long requestedBytes, long budgetBytes, long reservedBytes = 0)
    {
        string beside = reservedBytes == 0 ? "" : Invariant($" beside a reservation of {reservedBytes:N0} bytes");
        return new(requestedBytes, budgetBytes, budgetBytes - reservedBytes, isTransient: false, beside + Invariant(
            $"; the memory budget is {budgetBytes:N0} bytes ({OptionsName}.{nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)}), ")
            + "so they never fit. Make the job smaller, or raise the budget.");
    }

    /// <summary>
    /// For a request that found no room in the budget in time. <paramref name="neededBytes"/> includes the rest of its reservation. The
    /// exception is transient if these bytes fit the whole budget.
    /// </summary>
    internal static MemoryLimitExceededException ForTimeout(
        long requestedBytes, long budgetBytes, long usedBytes, long neededBytes, TimeSpan timeout, bool isBudgetTimeout)
    {
        bool isKeptForOthers = requestedBytes <= budgetBytes - usedBytes;
        return new(requestedBytes, budgetBytes, budgetBytes - usedBytes, neededBytes <= budgetBytes, Invariant(
            $"; {usedBytes:N0} of the memory budget of {budgetBytes:N0} bytes are outstanding or reserved")
            + (isKeptForOthers ? ", what is left is kept for a request that came earlier" : "")
            + Invariant($", and the call may wait for {timeout} ")
            + (isBudgetTimeout
                ? $"({OptionsName}.{nameof(MemoryAllocatorOptions.BudgetTimeout)}). Asynchronous calls wait without blocking a thread."
                : "(its own timeout). Try again later, or allow more time."));
    }

    /// <summary>For growth of a reservation that waited for others, which waited for it. As <see cref="ForTimeout"/>.</summary>
    internal static MemoryLimitExceededException ForStuckGrowth(
        long requestedBytes, long limitBytes, bool isBudget, long usedBytes, long neededBytes,
        (long ReservedBytes, long UsedBytes, long PeakBytes) reservation) =>
        new(requestedBytes, limitBytes, limitBytes - usedBytes, neededBytes <= limitBytes, Invariant(
            $" beyond a reservation of {reservation.ReservedBytes:N0} bytes, of which {reservation.UsedBytes:N0} bytes are outstanding ")
            + Invariant($"(at most {reservation.PeakBytes:N0} were). No job runs that could make room in the ")
            + Invariant($"{(isBudget ? "memory budget" : "container")} of {limitBytes:N0} bytes, and of the reservations that wait ")
            + "this one is the youngest. Reserve the whole estimate of a job before it starts.");

    /// <summary>For a request that fits, but idle memory did not go for it. Transient unless kept blocks leave no room.</summary>
    internal static MemoryLimitExceededException ForCeiling(long requestedBytes, long budgetBytes, int attempts, long keptBytes) =>
        new(requestedBytes, budgetBytes, availableBytes: 0, requestedBytes <= budgetBytes - keptBytes, keptBytes > 0
            ? Invariant($", and of the memory budget of {budgetBytes:N0} bytes {keptBytes:N0} bytes are idle blocks, ")
                + $"which {OptionsName}.{nameof(MemoryAllocatorOptions.KeepBlocks)} keeps in the pool. Raise the budget."
            : Invariant($" and fit the memory budget of {budgetBytes:N0} bytes, but memory that is no longer in use did not go back ")
                + Invariant($"to the system, although that was tried {attempts} times. Try again later."));

    /// <summary>For a request by a hook that runs as memory goes back. No idle memory is released for it. Transient.</summary>
    internal static MemoryLimitExceededException ForHook(long requestedBytes, long limitBytes) =>
        new(requestedBytes, limitBytes, availableBytes: 0, isTransient: true,
            $". It was made within {OptionsName}.{nameof(MemoryAllocatorOptions.BlockReleasing)}, "
            + "so no idle memory was released for it, and it did not wait. Allocate before the hook is called.");

    /// <summary>For a request that the container certainly has no memory for. Transient, unless the container is smaller.</summary>
    internal static MemoryLimitExceededException ForContainer(long requestedBytes, long containerBytes, long leftBytes) =>
        new(requestedBytes, containerBytes, leftBytes, requestedBytes <= containerBytes, Invariant(
            $"; the container of {containerBytes:N0} bytes has {leftBytes:N0} bytes left after all idle memory was released, ")
            + $"and its process would be killed for using more ({OptionsName}.{nameof(MemoryAllocatorOptions.HonorMemoryLimit)}). "
            + "Run fewer jobs at once, reserve memory before a job starts, or raise the container's limit.");

    /// <summary>For a request that would leave too little free. Transient, if an otherwise empty container has room for it.</summary>
    internal static MemoryLimitExceededException ForMinimumFree(
        long requestedBytes, long neededBytes, long containerBytes, long minimumFreeBytes, long freeBytes)
    {
        long limitBytes = containerBytes - minimumFreeBytes;
        return new(requestedBytes, limitBytes, freeBytes - minimumFreeBytes, neededBytes <= limitBytes, Invariant(
            $"; {freeBytes:N0} of {containerBytes:N0} bytes are free, others have reserved a part of them, and {minimumFreeBytes:N0} ")
            + $"must stay free ({OptionsName}.{nameof(MemoryAllocatorOptions.MinimumFreeMegabytes)}). Run fewer jobs at once; "
            + "ReserveAsync waits for room.");
    }
}
