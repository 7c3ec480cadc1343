using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Hosting;

namespace ThumbnailService.Serving;

/// <summary>The memory of the service at one moment, in bytes.</summary>
/// <param name="Time">Milliseconds since 1970.</param>
/// <param name="Reserved">Bytes that running requests have reserved and do not use.</param>
/// <param name="Waiting">Requests that wait for memory.</param>
internal readonly record struct HistorySample(long Time, long Outstanding, long Reserved, long Waiting);

/// <summary>Writes the samples that charts of a trial are drawn from.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(IReadOnlyList<HistorySample>))]
internal sealed partial class HistoryJson : JsonSerializerContext;

/// <summary>
/// Reads the memory of the service twice a second, on a thread of its own, and keeps the last five minutes. Once the service is idle it
/// has the collector and malloc return what the last burst left.
/// </summary>
internal sealed class MemoryHistory : IHostedService, IDisposable
{
    private const int Room = 600;
    private const int PeriodMilliseconds = 500;

    // Three seconds.
    private const int IdleSamples = 6;

    private readonly MemoryAllocator _allocator;
    private readonly ConcurrentDictionary<MemoryReservation, bool> _running = new();
    private readonly Queue<HistorySample> _samples = new(Room);
    private readonly MeterListener _listener = new();
    private readonly ManualResetEventSlim _stop = new();
    private readonly Thread _thread;
    private long _waiting;

    public MemoryHistory(MemoryAllocator allocator, IMeterFactory meters)
    {
        _allocator = allocator;
        _thread = new Thread(Run) { IsBackground = true, Name = "memory history" };

        // Only the meter of Allocator.AspNetCore knows waiting requests.
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Name == "allocator.admission.waiting" && instrument.Meter.Scope == meters)
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((_, value, _, _) => _waiting += value);
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _listener.Start();
        _thread.Start();
        return Task.CompletedTask;
    }

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

    /// <summary>Counts the unused bytes of <paramref name="reservation"/> as reserved until the result is disposed.</summary>
    public IDisposable? Watch(MemoryReservation? reservation)
    {
        if (reservation is null)
        {
            return null;
        }

        _ = _running.TryAdd(reservation, true);
        return new Watched(this, reservation);
    }

    public IReadOnlyList<HistorySample> Read()
    {
        lock (_samples)
        {
            return [.. _samples];
        }
    }

    private void Run()
    {
        long lastRents = 0;
        int idle = 0;
        while (!_stop.Wait(PeriodMilliseconds))
        {
            MemoryAllocatorStatistics statistics = _allocator.GetStatistics();
            _waiting = 0;
            _listener.RecordObservableInstruments();
            long reserved = _running.Sum(running => running.Key.RemainingBytes);
            HistorySample sample = new(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), statistics.RentedBytes, reserved, _waiting);
            lock (_samples)
            {
                if (_samples.Count == Room)
                {
                    _ = _samples.Dequeue();
                }

                _samples.Enqueue(sample);
            }

            idle = statistics.Rents == lastRents && sample is { Outstanding: 0, Waiting: 0 } ? idle + 1 : 0;
            lastRents = statistics.Rents;
            if (idle == IdleSamples && lastRents > 0)
            {
                // The allocator trims its idle memory by itself; .NET and malloc return theirs only when the next burst allocates.
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
                _ = NativeHeap.TryTrim();
            }
        }
    }

    private sealed class Watched(MemoryHistory history, MemoryReservation reservation) : IDisposable
    {
        public void Dispose() => history._running.TryRemove(reservation, out _);
    }
}
