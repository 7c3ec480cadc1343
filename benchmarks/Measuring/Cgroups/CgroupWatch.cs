using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Measuring.Cgroups;

/// <summary>
/// Notes from outside what is charged to a cgroup, on a thread of its own. A process that is killed cannot report its own last moments.
/// </summary>
public sealed class CgroupWatch : IDisposable
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(10);

    private readonly CgroupMemory _memory;
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly ManualResetEventSlim _stop = new();
    private readonly List<CgroupSample> _samples = new(4096);
    private readonly Thread _thread;

    /// <summary>Starts to look at <paramref name="memory"/>, with the clock at zero.</summary>
    public CgroupWatch(CgroupMemory memory)
    {
        _memory = memory;
        _thread = new Thread(Run) { IsBackground = true, Name = "cgroup watch" };
        _thread.Start();
    }

    /// <summary>Gets the seconds since the start.</summary>
    public double Seconds => _clock.Elapsed.TotalSeconds;

    /// <summary>Ends it and returns what was seen.</summary>
    public IReadOnlyList<CgroupSample> Stop()
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
            _samples.Add(new CgroupSample(Seconds, _memory.UsedBytes));
        }
        while (!_stop.Wait(s_period));
    }
}
