namespace Allocator;

/// <summary>
/// What an allocator holds and has done, read at one moment. All memory from the operating system is rented, retained or quarantined. While
/// no other thread allocates, <see cref="CommittedBytes"/> is the sum of these, less the managed arrays in <see cref="RentedBytes"/> and
/// <see cref="RetainedBytes"/>.
/// </summary>
public readonly record struct MemoryAllocatorStatistics
{
    /// <summary>Gets the capacity, not the requested length, of all outstanding memory: whole blocks, mappings, and arrays.</summary>
    public long RentedBytes { get; init; }

    /// <summary>Gets the idle memory in the pool and in the allocator's own arrays, in bytes.</summary>
    public long RetainedBytes { get; init; }

    /// <summary>Gets the bytes committed by the system, without managed arrays and purged blocks.</summary>
    public long CommittedBytes { get; init; }

    /// <summary>Gets the peak of <see cref="CommittedBytes"/>.</summary>
    public long PeakCommittedBytes { get; init; }

    /// <summary>Gets the bytes in quarantine: abandoned memory, and in <see cref="SafetyMode.Guarded"/> mode returned memory.</summary>
    public long QuarantinedBytes { get; init; }

    /// <summary>Gets how many bytes of idle memory were returned to the operating system since creation.</summary>
    public long TrimmedBytes { get; init; }

    /// <summary>Gets how many allocations are outstanding: not disposed, or disposed and still pinned.</summary>
    /// <remarks>
    /// A buffer of up to 1 MiB that was dropped without <c>Dispose</c> is collected with its array and stays in this count; larger ones
    /// leave it when they are found, and if memory is limited all do.
    /// </remarks>
    public long OutstandingAllocations { get; init; }

    /// <summary>Gets how many allocations were made since creation.</summary>
    public long Rents { get; init; }

    /// <summary>Gets how many requests above 1 MiB were served in full from idle memory of the pool.</summary>
    public long PoolHits { get; init; }

    /// <summary>Gets how many requests above 1 MiB needed new memory of the operating system, in full or in part.</summary>
    public long PoolMisses { get; init; }

    /// <summary>Gets how many trims released memory.</summary>
    public long Trims { get; init; }

    /// <summary>Gets how many allocations and reservations were found unreachable without <c>Dispose</c>.</summary>
    public long Abandoned { get; init; }

    /// <summary>
    /// Gets how many requests that can fit were not served at once, and waited or failed: there was no room, or few jobs of their name had
    /// ended.
    /// </summary>
    public long BudgetWaits { get; init; }

    /// <summary>
    /// Gets the bytes of the memory budget that are outstanding, at their capacity, or reserved. 0 if neither a budget nor a minimum is
    /// set.
    /// </summary>
    public long BudgetUsedBytes { get; init; }

    /// <summary>
    /// Gets how often free memory of the C library's <c>malloc</c> was released on behalf of this allocator; see
    /// <see cref="MemoryAllocatorOptions.TrimNativeHeap"/>.
    /// </summary>
    public long NativeHeapTrims { get; init; }

    /// <summary>Gets by how many bytes the resident set shrank during these trims, including what other threads did meanwhile.</summary>
    public long NativeHeapTrimmedBytes { get; init; }

    /// <summary>Gets the total time of these trims.</summary>
    public TimeSpan NativeHeapTrimTime { get; init; }

    /// <summary>
    /// Gets how often memory was refused by the operating system, by the container's limit or by
    /// <see cref="MemoryAllocatorOptions.MinimumFreeMegabytes"/>, and the attempt was repeated after idle memory was released.
    /// </summary>
    public long AllocationRetries { get; init; }
}
