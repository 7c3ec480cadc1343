using System;
using System.Diagnostics;
using System.Threading;
using Decisions.Latencies;
using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>Touches fresh small pages of a mapping of its own, one after the other, and keeps each touch's latency: whoever purges must not stand in its way.</summary>
internal sealed class FaultingThread
{
    private const int Bytes = 64 * MemorySize.Megabyte;

    private readonly LatencyHistogram _latencies;
    private readonly Thread _thread;
    private readonly ManualResetEventSlim _runs = new();
    private volatile bool _stopped;

    /// <summary>Starts, and counts into <paramref name="latencies"/>.</summary>
    public FaultingThread(LatencyHistogram latencies)
    {
        _latencies = latencies;
        _thread = new Thread(Work) { IsBackground = true, Name = "faults" };
        _thread.Start();
        _runs.Wait();
    }

    /// <summary>Ends, and waits for it.</summary>
    public void Stop()
    {
        _stopped = true;
        _thread.Join();
        _runs.Dispose();
    }

    private unsafe void Work()
    {
        nint address = LinuxMemory.Map(Bytes, hugePages: false);
        while (!_stopped)
        {
            // Its own purge is not measured: only faults are.
            LinuxMemory.Advise(address, Bytes, LinuxMemory.AdviseDontNeed);
            _runs.Set();
            for (int offset = 0; offset < Bytes && !_stopped; offset += Environment.SystemPageSize)
            {
                long start = Stopwatch.GetTimestamp();
                *(byte*)(address + offset) = 1;
                _latencies.Record(Stopwatch.GetTimestamp() - start);
            }
        }

        LinuxMemory.Unmap(address, Bytes);
    }
}
