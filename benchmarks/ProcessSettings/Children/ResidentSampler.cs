using System;
using System.Collections.Generic;
using System.Threading;
using Measuring.Machines;

namespace ProcessSettings.Children;

/// <summary>Reads the resident memory of this process every few milliseconds, on a thread of its own, until it is stopped.</summary>
internal sealed class ResidentSampler
{
    private const int Room = 1 << 20;

    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(5);

    // Made before: nothing is allocated while it samples.
    private readonly List<double> _samples = new(Room);
    private readonly ManualResetEventSlim _stop = new();
    private readonly Thread _thread;

    /// <summary>Starts sampling.</summary>
    public ResidentSampler()
    {
        _thread = new Thread(Sample) { IsBackground = true, Name = "resident memory" };
        _thread.Start();
    }

    /// <summary>Stops, and returns what was read, in bytes.</summary>
    public IReadOnlyList<double> Stop()
    {
        _stop.Set();
        _thread.Join();
        return _samples;
    }

    private void Sample()
    {
        do
        {
            _samples.Add(ProcessMemory.ReadResidentOften());
        }
        while (!_stop.Wait(s_interval));
    }
}
