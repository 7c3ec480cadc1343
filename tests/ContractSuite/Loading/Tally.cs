using System.Collections.Concurrent;

namespace ContractSuite.Loading;

/// <summary>What was done, how often; and what went wrong. Thread-safe.</summary>
internal sealed class Tally
{
    private readonly ConcurrentDictionary<string, long> _counts = new();
    private readonly ConcurrentQueue<string> _violations = new();

    public IEnumerable<KeyValuePair<string, long>> Counts => _counts.OrderBy(static count => count.Key);

    public IReadOnlyCollection<string> Violations => _violations;

    public long this[string what] => _counts.TryGetValue(what, out long count) ? count : 0;

    public void Count(string what) => _counts.AddOrUpdate(what, 1, static (_, count) => count + 1);

    public void Report(string violation) => _violations.Enqueue(violation);
}
