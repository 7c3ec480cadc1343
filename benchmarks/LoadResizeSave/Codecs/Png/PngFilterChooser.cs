using System.Buffers;

namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// Filters rows of RGB for a PNG: of the four filters that suit photographs, the one with the smallest sum of absolute differences.
/// </summary>
internal sealed class PngFilterChooser : IDisposable
{
    private const int Distance = 3;

    private readonly int _rowLength;
    private readonly IMemoryOwner<byte> _scratch;
    private Memory<byte> _best;
    private Memory<byte> _candidate;

    public PngFilterChooser(int rowLength, PixelStore store)
    {
        _rowLength = rowLength;
        int filteredLength = checked(rowLength + 1);
        _scratch = store.Allocate<byte>(ScratchLength(rowLength));
        _best = _scratch.Memory[..filteredLength];
        _candidate = _scratch.Memory[filteredLength..];
    }

    public static int ScratchLength(int rowLength) => checked(2 * (rowLength + 1));

    /// <summary>
    /// Returns <paramref name="row"/> filtered, its filter byte first; valid until the next call. <paramref name="prior"/> is empty for
    /// the first row.
    /// </summary>
    public ReadOnlySpan<byte> Filter(ReadOnlySpan<byte> row, ReadOnlySpan<byte> prior)
    {
        row = row[.._rowLength];
        long smallest = Sub(row, _best.Span);
        if (!prior.IsEmpty)
        {
            smallest = Keep(Up(row, prior, _candidate.Span), smallest);
            smallest = Keep(Average(row, prior, _candidate.Span), smallest);
            Keep(Paeth(row, prior, _candidate.Span), smallest);
        }

        return _best.Span;
    }

    public void Dispose() => _scratch.Dispose();

    // A difference is a signed byte: 255 is as near to 0 as 1 is.
    private static int Cost(byte difference) => Math.Abs((int)(sbyte)difference);

    private static long Sub(ReadOnlySpan<byte> row, Span<byte> filtered)
    {
        filtered[0] = 1;
        filtered = filtered.Slice(1, row.Length);
        int head = Math.Min(Distance, row.Length);
        long sum = 0;
        for (int i = 0; i < row.Length; i++)
        {
            byte difference = (byte)(row[i] - (i < head ? 0 : row[i - Distance]));
            filtered[i] = difference;
            sum += Cost(difference);
        }

        return sum;
    }

    private static long Up(ReadOnlySpan<byte> row, ReadOnlySpan<byte> prior, Span<byte> filtered)
    {
        filtered[0] = 2;
        filtered = filtered.Slice(1, row.Length);
        prior = prior[..row.Length];
        long sum = 0;
        for (int i = 0; i < row.Length; i++)
        {
            byte difference = (byte)(row[i] - prior[i]);
            filtered[i] = difference;
            sum += Cost(difference);
        }

        return sum;
    }

    private static long Average(ReadOnlySpan<byte> row, ReadOnlySpan<byte> prior, Span<byte> filtered)
    {
        filtered[0] = 3;
        filtered = filtered.Slice(1, row.Length);
        prior = prior[..row.Length];
        long sum = 0;
        for (int i = 0; i < row.Length; i++)
        {
            int left = i < Distance ? 0 : row[i - Distance];
            byte difference = (byte)(row[i] - ((left + prior[i]) >> 1));
            filtered[i] = difference;
            sum += Cost(difference);
        }

        return sum;
    }

    private static long Paeth(ReadOnlySpan<byte> row, ReadOnlySpan<byte> prior, Span<byte> filtered)
    {
        filtered[0] = 4;
        filtered = filtered.Slice(1, row.Length);
        prior = prior[..row.Length];
        long sum = 0;
        for (int i = 0; i < row.Length; i++)
        {
            byte prediction = i < Distance
                ? prior[i]
                : PngUnfilter.Predict(row[i - Distance], prior[i], prior[i - Distance]);
            byte difference = (byte)(row[i] - prediction);
            filtered[i] = difference;
            sum += Cost(difference);
        }

        return sum;
    }

    private long Keep(long sum, long smallest)
    {
        if (sum >= smallest)
        {
            return smallest;
        }

        (_best, _candidate) = (_candidate, _best);
        return sum;
    }
}
