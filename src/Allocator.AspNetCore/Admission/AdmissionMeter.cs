using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Allocator.AspNetCore.Admission;

/// <summary>The <c>Meter</c> named <c>Allocator.AspNetCore</c>: who waits for memory, and for how long.</summary>
internal sealed class AdmissionMeter
{
    public const string Admitted = "admitted";
    public const string Busy = "busy";
    public const string TooLarge = "too_large";
    public const string Gone = "gone";

    private const string NameTag = "allocator.name";
    private const string OutcomeTag = "allocator.admission.outcome";

    private readonly UpDownCounter<long> _waiting;
    private readonly Histogram<double> _duration;

    public AdmissionMeter(IMeterFactory meters)
    {
        Meter meter = meters.Create("Allocator.AspNetCore", typeof(AdmissionMeter).Assembly.GetName().Version?.ToString(3));
        _waiting = meter.CreateUpDownCounter<long>(
            "allocator.admission.waiting", "{request}", "Requests that wait for memory.");

        // Milliseconds: the buckets that exporters have by default are made for them.
        _duration = meter.CreateHistogram<double>(
            "allocator.admission.duration", "ms", "How long requests waited for memory, by what became of them.");
    }

    public void AddWaiting(MemoryAllocator allocator, int requests)
    {
        if (_waiting.Enabled)
        {
            try
            {
                _waiting.Add(requests, Tags(allocator));
            }
            catch (Exception)
            {
                // A listener's: it must not fail a request.
            }
        }
    }

    public void Record(MemoryAllocator allocator, long began, string outcome)
    {
        if (_duration.Enabled)
        {
            TagList tags = Tags(allocator);
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

    private static TagList Tags(MemoryAllocator allocator) =>
        allocator.Name is { Length: > 0 } name ? new TagList([new KeyValuePair<string, object?>(NameTag, name)]) : default;
}
