using Allocator.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore;

/// <summary>Everything that this package logs.</summary>
internal static partial class AllocatorLog
{
    [LoggerMessage(
        1,
        LogLevel.Warning,
        "{Allocator} keeps its options, although its configuration has changed. Restart the application to apply the change: "
            + "{Difference}.")]
    public static partial void ConfigurationChanged(ILogger logger, string allocator, string difference);

    [LoggerMessage(
        2, LogLevel.Warning, "{Allocator} keeps its options, because its changed configuration cannot be read.")]
    public static partial void ConfigurationUnreadable(ILogger logger, string allocator, Exception exception);

    [LoggerMessage(
        3,
        LogLevel.Warning,
        "{Allocator} has a budget of {BudgetMegabytes} MiB, but there are only {TotalMegabytes} MiB of memory ({Source}): the process may "
            + "be killed before a request waits. Lower MemoryBudgetMegabytes.")]
    public static partial void BudgetAboveMemory(
        ILogger logger, string allocator, int budgetMegabytes, long totalMegabytes, MemoryLoadSource source);

    [LoggerMessage(
        4,
        LogLevel.Warning,
        "{Allocator} must leave {MinimumFreeMegabytes} MiB free, but there are only {TotalMegabytes} MiB of memory ({Source}), so no "
            + "request with an estimate ever fits. Lower MinimumFreeMegabytes.")]
    public static partial void MinimumFreeAboveMemory(
        ILogger logger, string allocator, int minimumFreeMegabytes, long totalMegabytes, MemoryLoadSource source);

    [LoggerMessage(5, LogLevel.Information, "{Endpoint} is refused with status {Status}: {Reason}")]
    public static partial void Refused(ILogger logger, string? endpoint, int status, string reason);

    [LoggerMessage(6, LogLevel.Debug, "{Endpoint} ends: its client left while {Stage}.")]
    public static partial void ClientGone(ILogger logger, string? endpoint, string stage);

    [LoggerMessage(
        7,
        LogLevel.Error,
        "{Endpoint} is refused: the upload cannot be buffered in {Folder}. Free disk space there, or name another folder in the "
            + "environment variable ASPNETCORE_TEMP.")]
    public static partial void BufferingFailed(ILogger logger, string? endpoint, string folder, Exception exception);

    [LoggerMessage(
        8,
        LogLevel.Warning,
        "{Allocator} was registered again after {Call}, so the options of that call have no effect. Remove one of the two "
            + "registrations.")]
    public static partial void Replaced(ILogger logger, string allocator, string call);

    [LoggerMessage(
        9,
        LogLevel.Information,
        "Kestrel reads at most {Bytes} bytes ahead of each connection (SocketTransportOptions.MaxReadBufferSize): unread uploads are in "
            + "memory that no allocator counts. Set another size to use that, or the switch {Switch} to false to keep Kestrel's.")]
    public static partial void TransportBufferSet(ILogger logger, long bytes, string @switch);

    [LoggerMessage(
        10,
        LogLevel.Information,
        "Kestrel's HTTP/2 windows are {ConnectionBytes} bytes a connection and {StreamBytes} a stream (Limits.Http2): unread uploads "
            + "are in memory that no allocator counts. Set other sizes to use those, or the switch {Switch} to false to keep Kestrel's.")]
    public static partial void WindowsSet(ILogger logger, int connectionBytes, int streamBytes, string @switch);

    [LoggerMessage(
        11,
        LogLevel.Information,
        "malloc maps memory from {Bytes} bytes on, so that what codecs free goes back to the system. SetNativeMapThreshold = false keeps "
            + "malloc's own threshold.")]
    public static partial void MapThresholdSet(ILogger logger, long bytes);

    [LoggerMessage(
        12,
        LogLevel.Error,
        "{Endpoint} ends: the managed heap is full. The client gets 503, or a closed connection if the response has begun. Run fewer "
            + "requests at once, lower the limits of the allocators, or raise the limit of the heap.")]
    public static partial void ManagedMemoryShort(ILogger logger, string? endpoint, Exception exception);

    [LoggerMessage(
        13,
        LogLevel.Information,
        "{Endpoint} reserved {ReservedMegabytes} MiB for its first request: {Count} such requests run at once in {LimitMegabytes} MiB.")]
    public static partial void Capacity(ILogger logger, string? endpoint, long reservedMegabytes, long limitMegabytes, long count);

    [LoggerMessage(
        14,
        LogLevel.Warning,
        "{Endpoint} needed {NeededMegabytes} MiB of {LimitMegabytes} MiB: such requests run one at a time. {Advice}")]
    public static partial void OneAtATime(ILogger logger, string? endpoint, long neededMegabytes, long limitMegabytes, string advice);

    [LoggerMessage(
        15,
        LogLevel.Warning,
        "{Endpoint} took no memory from its reservation in {Count} requests; the last one reserved {ReservedMegabytes} MiB. Pass "
            + "GetMemoryReservation() to the code that allocates, or count what a codec takes with TrackExternalMemory.")]
    public static partial void NeverUsed(ILogger logger, string? endpoint, int count, long reservedMegabytes);

    [LoggerMessage(
        16,
        LogLevel.Information,
        "{Endpoint} runs again, because its first run was refused memory: {Reason}")]
    public static partial void RunsAgain(ILogger logger, string? endpoint, string reason);

    [LoggerMessage(
        17,
        LogLevel.Warning,
        "{Endpoint} failed after its job was refused memory. The client gets 503.")]
    public static partial void FailedAfterRefusal(ILogger logger, string? endpoint, Exception exception);

    [LoggerMessage(
        20,
        LogLevel.Information,
        "{Allocator} has no limit set, so {MinimumFreeMegabytes} of {TotalMegabytes} MiB ({Source}) stay free for other code. Requests "
            + "with an estimate that would leave less wait, or are refused with 503; those without one may use it. Set "
            + "MemoryBudgetMegabytes or MinimumFreeMegabytes for another limit.")]
    public static partial void LimitedByDefault(
        ILogger logger, string allocator, int minimumFreeMegabytes, long totalMegabytes, MemoryLoadSource source);
}
