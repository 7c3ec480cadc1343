using Allocator.AspNetCore.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Reports once for each endpoint what would otherwise show only under load: how many of its largest requests run at once, and that none
/// of them takes its memory from its reservation.
/// </summary>
internal sealed class EndpointUse
{
    /// <summary>Some requests are cached, or fail: the first one alone does not prove that a reservation is never used.</summary>
    public const int UnusedRequests = 10;

    private const string AdviceForEstimates = "Lower the estimate, or raise the limit.";

    private const string AdviceForLearned =
        "Raise the limit, or use a smaller picture; if pictures differ in size, RequireMemoryBySize lets small ones run beside large ones.";

    private int _isCapacityLogged;
    private int _isOneLogged;
    private long _largest;
    private int _isUsed;
    private int _ended;

    /// <summary>Notes a request that has ended.</summary>
    /// <param name="services">The services of the request.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="allocator">The allocator.</param>
    /// <param name="reservation">What the request had reserved.</param>
    /// <param name="isLearned">Whether that was no estimate: the first claim of an endpoint is a guess, so what was used counts.</param>
    public void Note(
        IServiceProvider services, ILogger logger, string? endpoint, MemoryAllocator allocator, MemoryReservation reservation,
        bool isLearned)
    {
        long reserved = reservation.ReservedBytes;
        long used = reservation.PeakUsedBytes + reservation.PeakElsewhereBytes;
        if (reserved > 0)
        {
            NoteCapacity(services, logger, endpoint, allocator, isLearned ? used : reserved, isLearned);
            NoteUse(logger, endpoint, used, reserved);
        }
    }

    private void NoteCapacity(
        IServiceProvider services, ILogger logger, string? endpoint, MemoryAllocator allocator, long needed, bool isLearned)
    {
        services.GetService<AdmissionMeter>()?.Of(allocator).NoteLargest(needed);

        // Only a need larger than any before is reported, because the limit is read from files.
        bool isLargest = needed > Volatile.Read(ref _largest);
        if (!isLargest || services.GetService<RunningAllocators>()?.LargestTotalOf(allocator) is not { } limit)
        {
            return;
        }

        Volatile.Write(ref _largest, needed);
        bool fitsOne = needed > limit / 2;
        if (fitsOne && Interlocked.Exchange(ref _isOneLogged, 1) == 0)
        {
            Volatile.Write(ref _isCapacityLogged, 1);
            AllocatorLog.OneAtATime(logger, endpoint, needed >> 20, limit >> 20, isLearned ? AdviceForLearned : AdviceForEstimates);
        }
        else if (!isLearned && Interlocked.Exchange(ref _isCapacityLogged, 1) == 0)
        {
            AllocatorLog.Capacity(logger, endpoint, needed >> 20, limit >> 20, limit / needed);
        }
    }

    private void NoteUse(ILogger logger, string? endpoint, long used, long reserved)
    {
        if (used > 0)
        {
            Volatile.Write(ref _isUsed, 1);
        }

        // True only once, because the count keeps growing.
        if (Interlocked.Increment(ref _ended) == UnusedRequests && Volatile.Read(ref _isUsed) == 0)
        {
            AllocatorLog.NeverUsed(logger, endpoint, UnusedRequests, reserved >> 20);
        }
    }
}
