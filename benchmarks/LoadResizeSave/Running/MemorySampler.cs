using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using LoadResizeSave.Pixels;
using Measuring.Machines;

namespace LoadResizeSave.Running;

/// <summary>Notes the memory of this process every 20 milliseconds, on a thread of its own, so that busy workers do not delay it.</summary>
internal sealed class MemorySampler : IDisposable
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(20);

    private readonly PixelStore _store;
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly ManualResetEventSlim _stop = new();
    private readonly List<MemorySample> _samples = new(8192);
    private readonly Thread _thread;

    /// <summary>Starts to sample, with the clock at zero.</summary>
    public MemorySampler(PixelStore store)
    {
        _store = store;
        _thread = new Thread(Run) { IsBackground = true, Name = "Memory sampler" };
        _thread.Start();
    }

    /// <summary>Gets the seconds since the start.</summary>
    public double Seconds => _clock.Elapsed.TotalSeconds;

    /// <summary>Ends sampling and returns what was seen.</summary>
    public IReadOnlyList<MemorySample> Stop()
    {
        _stop.Set();
        _thread.Join();
        return _samples;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _ = Stop();
        _stop.Dispose();
    }

    private void Run()
    {
        do
        {
            _samples.Add(new MemorySample(Seconds, ProcessMemory.ReadResidentOften(), _store.CommittedBytes));
        }
        while (!_stop.Wait(s_period));
    }
}
