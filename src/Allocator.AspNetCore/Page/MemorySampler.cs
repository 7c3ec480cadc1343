using Allocator.AspNetCore.Admission;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.Extensions.Hosting;

namespace Allocator.AspNetCore.Page;

/// <summary>One reading of an allocator, in bytes and requests.</summary>
internal readonly record struct AllocatorSample(long Time, long Outstanding, long Idle, long Reserved, long Limit, long Waiting);

/// <summary>One reading of the container, or the machine.</summary>
internal readonly record struct ProcessSample(long Time, long Used, long Limit);

/// <summary>An outstanding buffer that the safety mode watches.</summary>
internal readonly record struct WatchedBuffer(long Bytes, DateTime AllocatedAt, string Stack);

/// <summary>
/// The last ten minutes of all allocators, for the memory page. Its loop starts with the first view and ends with the host: a page that is
/// never opened costs nothing.
/// </summary>
internal sealed class MemorySampler : IHostedService, IDisposable
{
    public const int Room = 600;

    private const int MostOutstanding = 20;

    // Reading it takes a file of 8 MiB, too much for a page that polls every second.
    private const long RecordsMilliseconds = 5000;

    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(1);

    private readonly object _lock = new();
    private readonly RunningAllocators _running;
    private readonly AdmissionMeter _meter;
    private readonly CancellationTokenSource _stop = new();
    private readonly Dictionary<string, Queue<AllocatorSample>> _allocators = [];
    private readonly Queue<ProcessSample> _process = new(Room);
    private Task? _loop;
    private WatchedBuffer[] _outstanding = [];
    private long? _outstandingRead;

    public MemorySampler(RunningAllocators running, AdmissionMeter meter)
    {
        _running = running;
        _meter = meter;
    }

    /// <summary>Gets whether the figures are the container's or the machine's.</summary>
    public MemoryLoadSource Source { get; set; }

    /// <summary>Starts the readings, if they do not run. The first one is made at once.</summary>
    public void Start()
    {
        lock (_lock)
        {
            if (_loop is null && !_stop.IsCancellationRequested)
            {
                Sample();

                // Otherwise the context of the first request would be kept alive as long as the application runs.
                using IDisposable? suppressed = ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
                _loop = RunAsync(_stop.Token);
            }
        }
    }

    /// <summary>Returns the readings of the container, or the machine, after a time.</summary>
    public ProcessSample[] ReadProcess(long after)
    {
        lock (_lock)
        {
            return [.. _process.Where(sample => sample.Time > after)];
        }
    }

    /// <summary>Returns the readings of an allocator after a time.</summary>
    public AllocatorSample[] Read(string name, long after)
    {
        lock (_lock)
        {
            return _allocators.TryGetValue(name, out Queue<AllocatorSample>? samples) ? [.. samples.Where(one => one.Time > after)] : [];
        }
    }

    /// <summary>Returns the largest outstanding buffers that are watched, as of the last seconds.</summary>
    public WatchedBuffer[] ReadOutstanding()
    {
        lock (_lock)
        {
            long now = Environment.TickCount64;
            if (AllocationRecords.CurrentPath is { } path && !(now - _outstandingRead < RecordsMilliseconds))
            {
                _outstandingRead = now;
                _outstanding = ReadOutstanding(path);
            }

            return _outstanding;
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stop.CancelAsync();
        if (_loop is { } loop)
        {
            await loop;
        }
    }

    public void Dispose() => _stop.Dispose();

    /// <summary>Keeps a reading of the container, or the machine.</summary>
    public void Add(ProcessSample sample)
    {
        lock (_lock)
        {
            Keep(_process, sample);
        }
    }

    /// <summary>Keeps a reading of an allocator.</summary>
    public void Add(string name, AllocatorSample sample)
    {
        lock (_lock)
        {
            if (!_allocators.TryGetValue(name, out Queue<AllocatorSample>? samples))
            {
                _allocators.Add(name, samples = new Queue<AllocatorSample>(Room));
            }

            Keep(samples, sample);
        }
    }

    private static WatchedBuffer[] ReadOutstanding(string path)
    {
        try
        {
            // A record keeps the whole file: its figures are copied out.
            return
            [
                .. AllocationRecords.Open(path).Records
                    .Where(static record => record.State == AllocationRecordState.Rented)
                    .OrderByDescending(static record => record.Bytes)
                    .Take(MostOutstanding)
                    .Select(static record => new WatchedBuffer(record.Bytes, record.AllocatedAt, record.AllocationStackTrace)),
            ];
        }
        catch (Exception exception) when (exception is IOException or InvalidDataException or OutOfMemoryException)
        {
            // The rest of the page is useful without it.
            return [];
        }
    }

    private static void Keep<TSample>(Queue<TSample> samples, TSample sample)
    {
        if (samples.Count == Room)
        {
            samples.Dequeue();
        }

        samples.Enqueue(sample);
    }

    private async Task RunAsync(CancellationToken stop)
    {
        using PeriodicTimer timer = new(s_period);
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                Sample();
            }
        }
        catch (OperationCanceledException)
        {
            // The host stops.
        }
    }

    private void Sample()
    {
        long time = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        MemoryLoad load = default;
        try
        {
            foreach ((string name, MemoryAllocator allocator) in _running.All())
            {
                load = allocator.GetMemoryLoad();
                Source = load.Source;
                MemoryAllocatorStatistics statistics = allocator.GetStatistics();
                AllocatorSample sample = new(
                    time,
                    statistics.RentedBytes,
                    statistics.RetainedBytes,
                    Math.Max(0, statistics.BudgetUsedBytes - statistics.RentedBytes),
                    _running.BudgetBytesOf(allocator) ?? 0,
                    Volatile.Read(ref _meter.Of(allocator).Waiting));
                Add(name, sample);
            }

            Add(new ProcessSample(time, load.UsedBytes, load.TotalBytes));
        }
        catch (Exception exception) when (exception is OutOfMemoryException or ObjectDisposedException)
        {
            // The charts then have a gap. A failed reading must neither end the process nor stop later readings.
        }
    }
}
