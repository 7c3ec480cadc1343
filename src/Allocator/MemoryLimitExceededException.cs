namespace Allocator;

/// <summary>Thrown if a request exceeds a limit of its allocator, or found no room in time. Nothing was allocated.</summary>
/// <remarks>A web service answers 503 if <see cref="IsTransient"/> is true, because the request may succeed later, otherwise 413.</remarks>
public sealed class MemoryLimitExceededException : InvalidOperationException
{
    private const string OptionsName = nameof(MemoryAllocatorOptions);
    private const string NeverFits = "It never fits. Make the job smaller, or raise the limit.";
    private const string CappedReason = ", but this job waits for others of its name to end, because few have ended so far";

    /// <summary>Makes the exception for a request above the limit for one allocation. It is not transient.</summary>
    /// <param name="requestedBytes">The requested bytes; <see cref="long.MaxValue"/> if there were more than that.</param>
    /// <param name="limitBytes">The limit that it exceeds, in bytes.</param>
    public MemoryLimitExceededException(long requestedBytes, long limitBytes)
        : this(requestedBytes, limitBytes, limitBytes, isTransient: false, Invariant(
            $"; the limit for one allocation is {limitBytes:N0} bytes. Refuse such input, or raise the limit ")
            + $"({OptionsName}.{nameof(MemoryAllocatorOptions.AllocationLimitMegabytes)}, unless another library has set a lower one).")
    {
    }

    private MemoryLimitExceededException(long requestedBytes, long limitBytes, long availableBytes, bool isTransient, string reason)
        : base(
            "Requested " + (requestedBytes == long.MaxValue ? "more than 9,223,372,036,854,775,806" : Invariant($"{requestedBytes:N0}"))
                + " bytes" + reason)
    {
        RequestedBytes = requestedBytes;
        LimitBytes = limitBytes;
        AvailableBytes = Math.Max(0, availableBytes);
        IsTransient = isTransient;
    }

    /// <summary>Gets the requested bytes, at most <see cref="long.MaxValue"/>.</summary>
    public long RequestedBytes { get; }

    /// <summary>Gets the limit that the request exceeds, in bytes: of one allocation, the memory budget or the container.</summary>
    public long LimitBytes { get; }

    /// <summary>
    /// Gets how many bytes of the limit were free when the request was refused; for a request that never fits, the whole limit. More
    /// may be free than was requested, if it is kept for requests that came earlier. It is 0 if free memory could not be used.
    /// </summary>
    public long AvailableBytes { get; }

    /// <summary>
    /// Gets whether the same request may succeed later, when others have returned memory; a web service then answers <c>503 Service
    /// Unavailable</c> with <c>Retry-After</c>. If <see langword="false"/>, the request never fits, alone or together with its own
    /// <see cref="MemoryReservation"/>: <c>413 Content Too Large</c>.
    /// </summary>
    public bool IsTransient { get; }

    /// <summary>For a request larger than the whole budget, alone or with what its reservation has reserved. Not transient.</summary>
    internal static MemoryLimitExceededException ForBudget(long requestedBytes, long budgetBytes, long reservedBytes = 0)
    {
        string beside = reservedBytes == 0 ? "" : Invariant($" on top of a reservation of {reservedBytes:N0} bytes");
        return new(requestedBytes, budgetBytes, budgetBytes - reservedBytes, isTransient: false, beside + Invariant(
            $"; the memory budget is {budgetBytes:N0} bytes ({OptionsName}.{nameof(MemoryAllocatorOptions.MemoryBudgetMegabytes)}), ")
            + "so the request never fits. Make the job smaller, or raise the budget.");
    }

    /// <summary>
    /// For a request that found no room in the budget in time. The exception is transient if the request fits if nothing else is taken,
    /// together with the rest of its reservation.
    /// </summary>
    internal static MemoryLimitExceededException ForTimeout(
        long requestedBytes, long budgetBytes, long usedBytes, bool fitsEver, bool isCapped, TimeSpan timeout, bool isBudgetTimeout)
    {
        bool isKeptForOthers = requestedBytes <= budgetBytes - usedBytes;
        return new(requestedBytes, budgetBytes, budgetBytes - usedBytes, fitsEver, Invariant(
            $"; {Math.Max(0, budgetBytes - usedBytes):N0} of the memory budget of {budgetBytes:N0} bytes are free")
            + (isCapped ? CappedReason : isKeptForOthers ? ", but kept for a request that came earlier" : "")
            + Invariant($". This call waits up to {timeout} ")
            + (isBudgetTimeout ? $"({OptionsName}.{nameof(MemoryAllocatorOptions.BudgetTimeout)}). " : "(its timeout). ")
            + (!fitsEver ? NeverFits
                : isBudgetTimeout ? "AllocateAsync and ReserveAsync wait without a thread."
                : "Try again later, or allow more time."));
    }

    /// <summary>For growth of a reservation that waited for others, which waited for it. As <see cref="ForTimeout"/>.</summary>
    internal static MemoryLimitExceededException ForStuckGrowth(
        long requestedBytes, long limitBytes, bool isBudget, long usedBytes, bool fitsEver,
        (long ReservedBytes, long UsedBytes, long PeakBytes) reservation, bool isLearned) =>
        new(requestedBytes, limitBytes, limitBytes - usedBytes, fitsEver, Invariant(
            $" beyond a reservation of {reservation.ReservedBytes:N0} bytes, of which {reservation.UsedBytes:N0} are outstanding ")
            + Invariant($"(peak {reservation.PeakBytes:N0}). All jobs that hold memory wait for more of the ")
            + Invariant($"{(isBudget ? "memory budget" : "container")} of {limitBytes:N0} bytes, and this one is the youngest. ")
            + (!fitsEver ? NeverFits
                : isLearned ? "Try again: from now on, jobs of its name reserve more."
                : "Reserve the whole need of a job before it starts."));

    /// <summary>For a request that fits, but no idle memory could be released for it. Transient unless kept blocks leave no room.</summary>
    internal static MemoryLimitExceededException ForCeiling(long requestedBytes, long budgetBytes, int attempts, long keptBytes) =>
        new(requestedBytes, budgetBytes, availableBytes: 0, requestedBytes <= budgetBytes - keptBytes, keptBytes > 0
            ? Invariant($"; {keptBytes:N0} of the memory budget of {budgetBytes:N0} bytes are idle blocks, ")
                + $"which {OptionsName}.{nameof(MemoryAllocatorOptions.KeepBlocks)} keeps in the pool. Raise the budget."
            : Invariant($"; the memory budget of {budgetBytes:N0} bytes has room, but idle memory could not be returned to the ")
                + Invariant($"system in {attempts} attempts. Try again later."));

    /// <summary>For a request of a hook that runs while memory is returned. No idle memory is released for it. Transient.</summary>
    internal static MemoryLimitExceededException ForHook(long requestedBytes, long limitBytes) =>
        new(requestedBytes, limitBytes, availableBytes: 0, isTransient: true,
            $" within {OptionsName}.{nameof(MemoryAllocatorOptions.BlockReleasing)}, "
            + "where no idle memory is released and no request waits. Allocate before the hook is called.");

    /// <summary>For a request that certainly does not fit the container. Transient, unless it is larger than the container.</summary>
    internal static MemoryLimitExceededException ForContainer(long requestedBytes, long containerBytes, long leftBytes) =>
        new(requestedBytes, containerBytes, leftBytes, requestedBytes <= containerBytes, Invariant(
            $"; the container of {containerBytes:N0} bytes has {leftBytes:N0} bytes left after all idle memory was released, ")
            + $"and the system would kill a process that uses more ({OptionsName}.{nameof(MemoryAllocatorOptions.HonorMemoryLimit)}). "
            + "Run fewer jobs at once, reserve memory before a job starts, or raise the container's limit.");

    /// <summary>
    /// For a request that would leave too little of the container free. Transient if an empty container has room for it. A minimum of 0
    /// is none. The timeout is that of a reservation; null for another call.
    /// </summary>
    internal static MemoryLimitExceededException ForMinimumFree(
        long requestedBytes, bool fitsEver, long containerBytes, long minimumFreeBytes, long freeBytes, bool isCapped, bool isNoRoom,
        TimeSpan? timeout)
    {
        long limitBytes = Math.Max(0, containerBytes - minimumFreeBytes);
        string ofMinimum = minimumFreeBytes == 0 ? "" : Invariant($", and {minimumFreeBytes:N0} must stay free ")
            + $"({OptionsName}.{nameof(MemoryAllocatorOptions.MinimumFreeMegabytes)})";
        return new(requestedBytes, limitBytes, freeBytes - minimumFreeBytes, fitsEver, Invariant(
            $"; {freeBytes:N0} of {containerBytes:N0} bytes are free")
            + (!isNoRoom && fitsEver ? ", some of them reserved by others" : "") + ofMinimum
            + (!fitsEver ? minimumFreeBytes == 0
                    ? ", but the whole container is too small. Make the job smaller, or raise the container's limit."
                    : ", so the request never fits. Make the job smaller, lower that minimum, or raise the limit."
                : isNoRoom ? ". Other code has the rest, and nothing outstanding could make room. Try again later, or raise the limit."
                : (isCapped ? CappedReason : "") + (timeout is { } waited
                    ? Invariant($". This call waits up to {waited} (its timeout). Try again later, or allow more time.")
                    : ". Run fewer jobs at once; ReserveAsync waits for room.")));
    }
}
