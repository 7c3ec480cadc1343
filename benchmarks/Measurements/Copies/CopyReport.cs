namespace Measurements.Copies;

/// <summary>Puts together what the user reads.</summary>
internal static class CopyReport
{
    /// <summary>Returns <paramref name="document"/> with tables, charts and notes.</summary>
    public static ResultDocument Complete(ResultDocument document, TrialTable fresh, TrialTable warm, TimeSpan elapsed)
    {
        string page = $"{PageBuffer.Width} × {PageBuffer.Height} × 3 bytes";
        string freshTitle = $"Two buffers of {page} allocated, one copied to the other, both freed: means of {fresh.Count} trials";
        string warmTitle = $"The copy alone, with buffers of {page} that are kept: means of {warm.Count} trials";
        List<ResultTable> tables =
        [
            Table(freshTitle, fresh, "ms", "0.000", fresh.Mean),
            Table("The same, relative to HGlobal", fresh, "×", "0.00", (test, kind) => fresh.Mean(test, kind) / fresh.Mean(test, 0)),
        ];
        if (ThreadFaults.AreCounted)
        {
            tables.Add(Table("The same: page faults a trial", fresh, null, "N0", fresh.Faults));
        }

        tables.Add(Table(warmTitle, warm, "ms", "0.000", warm.Mean));
        tables.Add(Table("The same, relative to HGlobal", warm, "×", "0.00", (test, kind) => warm.Mean(test, kind) / warm.Mean(test, 0)));
        return document with
        {
            Tables = tables,
            Charts =
            [
                Chart("Allocating and freeing a page without touching it", fresh, 0, 1, isLogarithmic: true),
                Chart(freshTitle, fresh, 1, fresh.Tests.Count, isLogarithmic: false),
                Chart(warmTitle, warm, 0, warm.Tests.Count, isLogarithmic: false),
            ],
            Notes = [.. Explanations(), Invariant($"elapsed   {elapsed.TotalSeconds:0.0} s")],
        };
    }

    private static IEnumerable<string> Explanations()
    {
        yield return "How to read: times include both allocations, the copy and both frees, and so the first touch of the destination "
            + "wherever the system had taken the memory back. "
            + "Not included: each page of the source is written to after the allocation, as nothing copies what was never written. In "
            + "some trials the copy is compared with its source.";
        yield return "In each trial the kinds take turns, each time with another one first. Each kind has a process of its own, with a "
            + "heap that no other kind has shaped.";
        yield return "aligned heap: NativeMemory.AlignedAlloc at 64 bytes. "
            + "virtual: this library without a pool, a mapping of its own for each page, with huge pages where the system allows them. "
            + "pool: this library with a pool of 64 MiB; a page is a run of 7 of its blocks. Both by Allocate<byte>.";
        yield return "Marshal.Copy and stream by array allocate a new array of a page's size on the managed heap, "
            + "as code does that has no other way; its clearing and collection are within the times. "
            + "About every other array is fresh from the system and costs page faults of its own; trials go forwards and backwards "
            + "through the tests in turn, so that this falls on both.";
        yield return "Outside Windows, HGlobal and CoTaskMem are both malloc: their difference is noise. "
            + "glibc gives freed memory of this size back to the system or keeps it for the next request, by thresholds that move "
            + "as it is used; the page faults show which.";

        if (!ThreadFaults.AreCounted)
        {
            yield return "Page faults are left out: they are counted on 64-bit Linux only.";
        }
    }

    private static ResultTable Table(string title, TrialTable trials, string? unit, string format, Func<int, int, double> figure) => new()
    {
        Title = title,
        Labels = ["test"],
        Columns = [.. PageSource.Kinds.Select(kind => new ResultColumn(kind.Name, unit, format))],
        Rows =
        [
            .. trials.Tests.Select(
                (name, test) => new ResultRow([name], [.. PageSource.Kinds.Select((_, kind) => (double?)figure(test, kind))])),
        ],
    };

    private static ResultChart Chart(string title, TrialTable trials, int from, int to, bool isLogarithmic) => new()
    {
        Title = title,
        Kind = ChartKind.Bars,
        X = "test",
        Y = "time, ms",
        LogarithmicY = isLogarithmic,
        Categories = [.. trials.Tests.Skip(from).Take(to - from)],
        Series = [.. PageSource.Kinds.Select((source, kind) => new ResultSeries(
            source.Name, [.. Enumerable.Range(from, to - from).Select(test => new ResultPoint(test - from, trials.Mean(test, kind)))]))],
    };
}

/// <summary>The trials of several tests, each with several kinds of memory.</summary>
internal sealed class TrialTable(IReadOnlyList<string> tests)
{
    private readonly List<Trial>[,] _trials = new List<Trial>[tests.Count, PageSource.Kinds.Count];

    public IReadOnlyList<string> Tests => tests;

    /// <summary>Gets how many trials each mean is over.</summary>
    public int Count => _trials[0, 0].Count;

    public void Add(int test, int kind, Trial trial) => (_trials[test, kind] ??= []).Add(trial);

    public double Mean(int test, int kind) => _trials[test, kind].Average(trial => trial.Milliseconds);

    public double Faults(int test, int kind) => _trials[test, kind].Average(trial => trial.Faults);
}
