using System.Diagnostics;

namespace A4Copy.Trials;

/// <summary>Measures what lies between <see cref="Start"/> and <see cref="Stop"/>, as often as these are called in one trial.</summary>
internal sealed class Meter
{
    private long _start;
    private long _faultsAtStart;
    private long _ticks;
    private long _faults;

    /// <summary>Begins, or goes on.</summary>
    public void Start()
    {
        _faultsAtStart = ThreadFaults.Read();
        _start = Stopwatch.GetTimestamp();
    }

    /// <summary>Pauses.</summary>
    public void Stop()
    {
        _ticks += Stopwatch.GetTimestamp() - _start;
        _faults += ThreadFaults.Read() - _faultsAtStart;
    }

    /// <summary>Returns what was measured, and begins a new trial.</summary>
    public Trial Take()
    {
        Trial trial = new(1e3 * _ticks / Stopwatch.Frequency, _faults);
        _ticks = 0;
        _faults = 0;
        return trial;
    }
}
