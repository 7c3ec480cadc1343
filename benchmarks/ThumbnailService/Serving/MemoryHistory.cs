using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Allocator.Diagnostics;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ThumbnailService.Serving;

/// <summary>The memory of the service at one moment, in bytes.</summary>
/// <param name="Time">Milliseconds since 1970.</param>
/// <param name="Reserved">What running requests have reserved and do not use.</param>
/// <param name="Used">What the container, or the machine, has in use.</param>
/// <param name="Waiting">Requests that wait for memory.</param>
internal readonly record struct HistorySample(
    long Time, long Outstanding, long Retained, long Reserved, long Used, long Limit, long Waiting);

/// <summary>The last minutes.</summary>
internal sealed record MemoryHistoryReport(int PeriodMilliseconds, string LimitOf, IReadOnlyList<HistorySample> Samples);

/// <summary>Writes what the page reads.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(MemoryHistoryReport))]
internal sealed partial class HistoryJson : JsonSerializerContext;

/// <summary>
/// Reads the memory of the service twice a second, on a thread of its own, keeps the last minutes of it, and logs the progress.
/// </summary>
internal sealed partial class MemoryHistory : IHostedService, IDisposable
{
    /// <summary>How many samples are kept: five minutes.</summary>
    public const int Room = 600;

    private const int PeriodMilliseconds = 500;
    private const int SamplesPerLogLine = 20;

    // Three seconds.
    private const int IdleSamples = 6;

    private readonly MemoryAllocator _allocator;
    private readonly ILogger<MemoryHistory> _logger;
    private readonly ConcurrentDictionary<MemoryReservation, bool> _running = new();
    private readonly Queue<HistorySample> _samples = new(Room);
    private readonly MeterListener _listener = new();
    private readonly ManualResetEventSlim _stop = new();
    private readonly Thread _thread;
    private long _waiting;
    private long _refused;
    private long _served;

    public MemoryHistory(MemoryAllocator allocator, IMeterFactory meters, ILogger<MemoryHistory> logger)
    {
        _allocator = allocator;
        _logger = logger;
        _thread = new Thread(Run) { IsBackground = true, Name = "memory history" };

        // Waiting and refused requests are figures of Allocator.AspNetCore; no other way but its meter is needed.
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == "Allocator.AspNetCore" && instrument.Meter.Scope == meters)
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, _, _) =>
        {
            bool isWaiting = instrument.Name == "allocator.admission.waiting";
            _ = Interlocked.Add(ref isWaiting ? ref _waiting : ref _refused, value);
        });
    }

    /// <summary>Gets what has the limit: the container, or the machine.</summary>
    public string LimitOf { get; set; } = "";

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _listener.Start();
        _thread.Start();
        return Task.CompletedTask;
    }

    /// <summary>Ends the readings; what was read stays.</summary>
    public Task StopAsync(CancellationToken cancellationToken)
    {
        _stop.Set();
        if (_thread.IsAlive)
        {
            _thread.Join();
        }

        return Task.CompletedTask;
    }

    public void Dispose()
    {
        _ = StopAsync(CancellationToken.None);
        _listener.Dispose();
        _stop.Dispose();
    }

    /// <summary>Counts what <paramref name="reservation"/> has left as reserved, until the result is disposed.</summary>
    public IDisposable? Watch(MemoryReservation? reservation)
    {
        if (reservation is null)
        {
            return null;
        }

        _ = _running.TryAdd(reservation, true);
        return new Watched(this, reservation);
    }

    public void CountServed() => Interlocked.Increment(ref _served);

    public MemoryHistoryReport Read()
    {
        lock (_samples)
        {
            return new MemoryHistoryReport(PeriodMilliseconds, LimitOf, [.. _samples]);
        }
    }

    /// <summary>Keeps a sample, and forgets the oldest where there is no room.</summary>
    public void Add(HistorySample sample)
    {
        lock (_samples)
        {
            if (_samples.Count == Room)
            {
                _ = _samples.Dequeue();
            }

            _samples.Enqueue(sample);
        }
    }

    private void Run()
    {
        long logged = 0;
        long last = 0;
        int idle = 0;
        for (int i = 1; !_stop.Wait(PeriodMilliseconds); i++)
        {
            HistorySample sample = Sample();
            Add(sample);
            long done = Interlocked.Read(ref _served) + Interlocked.Read(ref _refused);
            idle = done == last && sample is { Outstanding: 0, Waiting: 0 } ? idle + 1 : 0;
            last = done;
            if (idle == IdleSamples && done > 0)
            {
                // The allocator's idle memory goes by itself. .NET collects, and malloc gives back, when the next burst allocates.
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
                _ = NativeHeap.TryTrim();
            }

            if (i % SamplesPerLogLine == 0 && (done != logged || sample.Waiting > 0))
            {
                logged = done;
                long served = Interlocked.Read(ref _served);
                LogProgress(served, done - served, sample.Waiting, sample.Outstanding >> 20, sample.Used >> 20, sample.Limit >> 20);
            }
        }
    }

    private HistorySample Sample()
    {
        MemoryAllocatorStatistics statistics = _allocator.GetStatistics();
        MemoryLoad load = _allocator.GetMemoryLoad();
        LimitOf = $"{load.Source}";
        _waiting = 0;
        _listener.RecordObservableInstruments();
        return new HistorySample(
            DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(),
            statistics.RentedBytes,
            statistics.RetainedBytes,
            _running.Sum(running => running.Key.RemainingBytes),
            load.UsedBytes,
            load.TotalBytes,
            Interlocked.Read(ref _waiting));
    }

    [LoggerMessage(
        1,
        LogLevel.Information,
        "{Served} thumbnails made, {Refused} requests refused, {Waiting} wait; {OutstandingMegabytes} MiB outstanding, {UsedMegabytes} of "
            + "{LimitMegabytes} MiB used.")]
    private partial void LogProgress(
        long served, long refused, long waiting, long outstandingMegabytes, long usedMegabytes, long limitMegabytes);

    private sealed class Watched(MemoryHistory history, MemoryReservation reservation) : IDisposable
    {
        public void Dispose() => history._running.TryRemove(reservation, out _);
    }
}
