namespace Measuring.Machines;

/// <summary>
/// Reads something again and again on a thread of its own, so that busy workers do not delay it, from its making until it is stopped.
/// Memory is read from outside too: a process that is killed cannot report its own last moments.
/// </summary>
public sealed class Sampler<T> : IDisposable
    where T : struct
{
    // Made before: the list does not grow while a short run is sampled.
    private const int Room = 1 << 14;

    private readonly TimeSpan _period;
    private readonly Func<double, T?> _read;
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly ManualResetEventSlim _stop = new();
    private readonly List<T> _samples = new(Room);
    private readonly Thread _thread;

    /// <summary>
    /// Starts. <paramref name="read"/> is given the seconds since the start, and returns null where there is nothing any more.
    /// </summary>
    public Sampler(TimeSpan period, Func<double, T?> read)
    {
        _period = period;
        _read = read;
        _thread = new Thread(Run) { IsBackground = true, Name = "sampler" };
        _thread.Start();
    }

    public double Seconds => _clock.Elapsed.TotalSeconds;

    /// <summary>Reads once more, ends, and returns all that was read.</summary>
    public IReadOnlyList<T> Stop()
    {
        _stop.Set();
        _thread.Join();
        return _samples;
    }

    public void Dispose()
    {
        _ = Stop();
        _stop.Dispose();
    }

    private void Run()
    {
        bool isLast = false;
        while (_read(Seconds) is { } sample)
        {
            _samples.Add(sample);
            if (isLast)
            {
                return;
            }

            isLast = _stop.Wait(_period);
        }
    }
}
