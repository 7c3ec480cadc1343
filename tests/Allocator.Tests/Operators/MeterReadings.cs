using System.Collections.Concurrent;
using System.Diagnostics.Metrics;

namespace Allocator.Tests.Operators;

/// <summary>Listens to the meter of the library, and keeps what the last collection told.</summary>
internal sealed class MeterReadings : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly MeterListener _listener = new();
    private readonly ConcurrentDictionary<string, Instrument> _instruments = new();
    private readonly List<KeyValuePair<string, long>> _measurements = [];

    public MeterReadings()
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == "Allocator")
            {
                listener.EnableMeasurementEvents(instrument);
                _instruments[instrument.Name] = instrument;
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => _measurements.Add(new(Key(instrument, tags), value)));
        _listener.Start();
    }

    public ICollection<Instrument> Instruments => _instruments.Values;

    /// <summary>Gets how many measurements the last collection had.</summary>
    public int Count => _measurements.Count;

    /// <summary>Gets every key of the last collection: the instrument, and its tags in braces.</summary>
    public IEnumerable<string> Keys => _measurements.Select(measurement => measurement.Key);

    /// <summary>Gets what was measured under a key; null where nothing was.</summary>
    public long? this[string key] =>
        _measurements.Where(measurement => measurement.Key == key).Select(measurement => (long?)measurement.Value).SingleOrDefault();

    /// <summary>Waits for instruments that another thread is making.</summary>
    public void WaitForAll(int count = 26)
    {
        if (!SpinWait.SpinUntil(() => _instruments.Count == count, s_patience))
        {
            throw new TimeoutException($"There are {_instruments.Count} instruments.");
        }
    }

    public MeterReadings Collect()
    {
        _measurements.Clear();
        _listener.RecordObservableInstruments();
        return this;
    }

    public void Dispose() => _listener.Dispose();

    private static string Key(Instrument instrument, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        string text = instrument.Name;
        foreach (KeyValuePair<string, object?> tag in tags)
        {
            text += $"{{{tag.Key}={tag.Value}}}";
        }

        return text;
    }
}
