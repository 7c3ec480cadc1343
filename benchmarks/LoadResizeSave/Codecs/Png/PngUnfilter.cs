using System.Numerics;
using System.Runtime.InteropServices;

namespace LoadResizeSave.Codecs.Png;

/// <summary>Undoes the five filters of PNG, in place.</summary>
internal static class PngUnfilter
{
    /// <summary>Turns the filtered <paramref name="row"/> into samples. <paramref name="prior"/> is the row above, or zeros.</summary>
    /// <exception cref="UnreadablePictureException"><paramref name="filter"/> does not exist.</exception>
    public static void Apply(byte filter, Span<byte> row, ReadOnlySpan<byte> prior, int distance)
    {
        prior = prior[..row.Length];
        switch (filter)
        {
            case 0:
                break;
            case 1:
                Sub(row, distance);
                break;
            case 2:
                Up(row, prior);
                break;
            case 3:
                Average(row, prior, distance);
                break;
            case 4:
                Paeth(row, prior, distance);
                break;
            default:
                throw new UnreadablePictureException($"filter {filter} does not exist");
        }
    }

    /// <summary>Returns whichever of left, above and above left is nearest to left + above - above left.</summary>
    public static byte Predict(int left, int above, int aboveLeft)
    {
        int toLeft = Math.Abs(above - aboveLeft);
        int toAbove = Math.Abs(left - aboveLeft);
        int toAboveLeft = Math.Abs(left + above - (2 * aboveLeft));
        if (toLeft <= toAbove && toLeft <= toAboveLeft)
        {
            return (byte)left;
        }

        return (byte)(toAbove <= toAboveLeft ? above : aboveLeft);
    }

    private static void Sub(Span<byte> row, int distance)
    {
        for (int i = distance; i < row.Length; i++)
        {
            row[i] += row[i - distance];
        }
    }

    private static void Up(Span<byte> row, ReadOnlySpan<byte> prior)
    {
        int vectorized = row.Length - (row.Length % Vector<byte>.Count);
        Span<Vector<byte>> rowVectors = MemoryMarshal.Cast<byte, Vector<byte>>(row[..vectorized]);
        ReadOnlySpan<Vector<byte>> priorVectors = MemoryMarshal.Cast<byte, Vector<byte>>(prior[..vectorized]);
        for (int i = 0; i < rowVectors.Length; i++)
        {
            rowVectors[i] += priorVectors[i];
        }

        for (int i = vectorized; i < row.Length; i++)
        {
            row[i] += prior[i];
        }
    }

    private static void Average(Span<byte> row, ReadOnlySpan<byte> prior, int distance)
    {
        for (int i = 0; i < row.Length && i < distance; i++)
        {
            row[i] += (byte)(prior[i] >> 1);
        }

        for (int i = distance; i < row.Length; i++)
        {
            row[i] += (byte)((row[i - distance] + prior[i]) >> 1);
        }
    }

    private static void Paeth(Span<byte> row, ReadOnlySpan<byte> prior, int distance)
    {
        for (int i = 0; i < row.Length && i < distance; i++)
        {
            row[i] += prior[i];
        }

        for (int i = distance; i < row.Length; i++)
        {
            row[i] += Predict(row[i - distance], prior[i], prior[i - distance]);
        }
    }
}
