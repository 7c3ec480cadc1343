using System;
using System.Collections.Generic;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Children;
using HeapPerf.Heaps;

namespace HeapPerf.Running;

/// <summary>All that the children found.</summary>
internal sealed class Measurements
{
    private readonly Dictionary<(SizeClass Class, HeapKind Heap, int Threads), ChildResult> _results = [];

    /// <summary>Prepares for the results of <paramref name="options"/>.</summary>
    public Measurements(HeapPerfOptions options) => Options = options;

    /// <summary>Gets what was asked for.</summary>
    public HeapPerfOptions Options { get; }

    /// <summary>Gets the heaps that the system has and that gave results, in the order of the tables.</summary>
    public IReadOnlyList<HeapKind> Heaps => [.. Options.Heaps.Where(heap => _results.Keys.Any(key => key.Heap == heap))];

    /// <summary>Gets everything that was found.</summary>
    public IReadOnlyCollection<ChildResult> Results => _results.Values;

    /// <summary>Keeps what a child found.</summary>
    public void Add(ChildRequest request, ChildResult result) => _results.Add((request.Class, request.Heap, request.Threads), result);

    /// <summary>Returns the version of the heap's library, if it told one.</summary>
    public string? Version(HeapKind heap) => _results.FirstOrDefault(pair => pair.Key.Heap == heap).Value?.Version;

    /// <summary>Returns a figure for each number of threads; null where there is none.</summary>
    public IReadOnlyList<double?> Series(SizeClass sizeClass, HeapKind heap, Func<ChildResult, double> figure)
        => [.. Options.Threads.Select(threads => _results.TryGetValue((sizeClass, heap, threads), out ChildResult? result) ? figure(result) : (double?)null)];
}
