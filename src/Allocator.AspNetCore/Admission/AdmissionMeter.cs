using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Allocator.AspNetCore.Admission;

/// <summary>The <c>Meter</c> named <c>Allocator.AspNetCore</c>: how many requests wait, for how long, and how many are refused.</summary>
internal sealed class AdmissionMeter
{
    public const string Admitted = "admitted";
    public const string Busy = "busy";
    public const string TooLarge = "too_large";
    public const string Gone = "gone";

    private const string NameTag = "allocator.name";
    private const string OutcomeTag = "allocator.admission.outcome";

    private const string StatusTag = "http.response.status_code";

    // By the name of the allocator. Always counted and read on demand, so the figures do not depend on when a listener started.
    private readonly ConcurrentDictionary<string, AdmissionCounts> _counts = new();
    private readonly Histogram<double> _duration;
    private readonly Counter<long> _refused;

    public AdmissionMeter(IMeterFactory meters)
    {
        Meter meter = meters.Create("Allocator.AspNetCore", typeof(AdmissionMeter).Assembly.GetName().Version?.ToString(3));
        meter.CreateObservableUpDownCounter(
            "allocator.admission.waiting", ObserveWaiting, "{request}", "Requests that wait for memory.");
        _refused = meter.CreateCounter<long>(
            "allocator.admission.refused", "{request}", "Requests that were refused, for any reason, by the status code of the response.");

        // In milliseconds: the default buckets of exporters are made for them.
        _duration = meter.CreateHistogram<double>(
            "allocator.admission.duration", "ms", "How long requests waited for memory, by what became of them.");
    }

    /// <summary>Returns the counts of the requests of an allocator.</summary>
    public AdmissionCounts Of(MemoryAllocator allocator) => _counts.GetOrAdd(allocator.Name ?? "", static _ => new AdmissionCounts());

    public void AddWaiting(MemoryAllocator allocator, int requests) => Interlocked.Add(ref Of(allocator).Waiting, requests);

    public void AddRefused(MemoryAllocator allocator, int status)
    {
        Interlocked.Increment(ref Of(allocator).Refused);
        if (_refused.Enabled)
        {
            TagList tags = Tags(allocator.Name);
            tags.Add(StatusTag, status);
            try
            {
                _refused.Add(1, tags);
            }
            catch (Exception)
            {
                // An exception of a listener must not fail a request.
            }
        }
    }

    public void Record(MemoryAllocator allocator, long began, string outcome)
    {
        if (outcome == Admitted)
        {
            Interlocked.Increment(ref Of(allocator).Admitted);
        }

        if (_duration.Enabled)
        {
            TagList tags = Tags(allocator.Name);
            tags.Add(OutcomeTag, outcome);
            try
            {
                _duration.Record(Stopwatch.GetElapsedTime(began).TotalMilliseconds, tags);
            }
            catch (Exception)
            {
                // As above.
            }
        }
    }

    private static TagList Tags(string? name) =>
        name is { Length: > 0 } ? new TagList([new KeyValuePair<string, object?>(NameTag, name)]) : default;

    private IEnumerable<Measurement<long>> ObserveWaiting()
    {
        foreach ((string name, AdmissionCounts counts) in _counts)
        {
            yield return new Measurement<long>(Volatile.Read(ref counts.Waiting), Tags(name));
        }
    }
}
