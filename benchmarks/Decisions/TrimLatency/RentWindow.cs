using System.Threading;
using Decisions.Latencies;

namespace Decisions.TrimLatency;

/// <summary>The time during which a renter's latencies count. Before it opens the renter warms up, and when it closes the renter stops.</summary>
internal sealed class RentWindow
{
    private const int WarmUps = 20_000;

    private readonly LatencyHistogram _latencies;
    private volatile bool _open;
    private volatile bool _closed;
    private volatile int _warmedUp;

    /// <summary>Makes a window that counts into <paramref name="latencies"/>.</summary>
    public RentWindow(LatencyHistogram latencies) => _latencies = latencies;

    /// <summary>Gets whether the renter is to go on.</summary>
    public bool GoesOn => !_closed;

    /// <summary>Called by the renter after each operation. The one that was under way when the window closed counts: it may be the one that had to wait.</summary>
    public void Record(long ticks)
    {
        if (_open)
        {
            _latencies.Record(ticks);
        }
        else
        {
            _warmedUp++;
        }
    }

    /// <summary>Waits until the renter is warm, and opens while it is running.</summary>
    public void Open()
    {
        SpinWait spin = default;
        while (_warmedUp < WarmUps)
        {
            spin.SpinOnce();
        }

        // On a busy machine it may have lost its core just now: a window in which it cannot run shows nothing.
        int seen = _warmedUp;
        while (_warmedUp == seen)
        {
            Thread.SpinWait(1);
        }

        _open = true;
    }

    /// <summary>Closes.</summary>
    public void Close() => _closed = true;
}
