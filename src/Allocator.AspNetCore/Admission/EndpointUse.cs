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

    private int _isCapacityLogged;
    private int _isOneLogged;
    private long _largest;
    private int _isUsed;
    private int _ended;

    /// <summary>Notes a request that has ended.</summary>
    public void Note(IServiceProvider services, ILogger logger, string? endpoint, MemoryAllocator allocator, MemoryReservation reservation)
    {
        long reserved = reservation.ReservedBytes;
        if (reserved > 0)
        {
            NoteCapacity(services, logger, endpoint, allocator, reserved);
            NoteUse(logger, endpoint, reservation.PeakUsedBytes + reservation.PeakElsewhereBytes, reserved);
        }
    }

    private void NoteCapacity(IServiceProvider services, ILogger logger, string? endpoint, MemoryAllocator allocator, long reserved)
    {
        services.GetService<AdmissionMeter>()?.Of(allocator).NoteLargest(reserved);

        // Only a reservation larger than any before is reported, because the limit is read from files.
        bool isLargest = reserved > Volatile.Read(ref _largest);
        if (!isLargest || services.GetService<RunningAllocators>()?.LargestTotalOf(allocator) is not { } limit)
        {
            return;
        }

        Volatile.Write(ref _largest, reserved);
        bool fitsOne = reserved > limit / 2;
        if (fitsOne && Interlocked.Exchange(ref _isOneLogged, 1) == 0)
        {
            Volatile.Write(ref _isCapacityLogged, 1);
            AllocatorLog.OneAtATime(logger, endpoint, reserved >> 20, limit >> 20);
        }
        else if (Interlocked.Exchange(ref _isCapacityLogged, 1) == 0)
        {
            AllocatorLog.Capacity(logger, endpoint, reserved >> 20, limit >> 20, limit / reserved);
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
