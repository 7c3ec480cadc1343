namespace LoadResizeSave.Codecs.Png;

/// <summary>What a filter of PNG takes a sample to be, from those left, above and above left of it.</summary>
internal interface IPrediction
{
    static abstract byte Number { get; }

    static abstract int Predict(int left, int above, int aboveLeft);
}

/// <summary>The five filters of PNG. A loop is compiled for each of them.</summary>
internal static class PngFilters
{
    /// <summary>Filters <paramref name="row"/>, with the filter's number first, and returns the sum of absolute differences.</summary>
    public static long Apply<TPrediction>(ReadOnlySpan<byte> row, ReadOnlySpan<byte> prior, int distance, Span<byte> filtered)
        where TPrediction : struct, IPrediction
    {
        filtered[0] = TPrediction.Number;
        filtered = filtered.Slice(1, row.Length);
        prior = prior[..row.Length];
        long sum = 0;
        for (int i = 0; i < row.Length; i++)
        {
            int prediction = i < distance
                ? TPrediction.Predict(0, prior[i], 0)
                : TPrediction.Predict(row[i - distance], prior[i], prior[i - distance]);
            byte difference = (byte)(row[i] - prediction);
            filtered[i] = difference;

            // A difference is a signed byte: 255 is as near to 0 as 1 is.
            sum += Math.Abs((int)(sbyte)difference);
        }

        return sum;
    }

    /// <summary>Turns the filtered <paramref name="row"/> into samples. <paramref name="prior"/> is the row above, or zeros.</summary>
    public static void Undo(byte filter, Span<byte> row, ReadOnlySpan<byte> prior, int distance)
    {
        prior = prior[..row.Length];
        switch (filter)
        {
            case 0:
                break;
            case 1:
                Undo<Sub>(row, prior, distance);
                break;
            case 2:
                UndoUp(row, prior);
                break;
            case 3:
                Undo<Average>(row, prior, distance);
                break;
            case 4:
                Undo<Paeth>(row, prior, distance);
                break;
            default:
                throw new UnreadablePictureException($"filter {filter} does not exist");
        }
    }

    private static void Undo<TPrediction>(Span<byte> row, ReadOnlySpan<byte> prior, int distance)
        where TPrediction : struct, IPrediction
    {
        for (int i = 0; i < row.Length && i < distance; i++)
        {
            row[i] += (byte)TPrediction.Predict(0, prior[i], 0);
        }

        for (int i = distance; i < row.Length; i++)
        {
            row[i] += (byte)TPrediction.Predict(row[i - distance], prior[i], prior[i - distance]);
        }
    }

    private static void UndoUp(Span<byte> row, ReadOnlySpan<byte> prior)
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

    public readonly struct Sub : IPrediction
    {
        public static byte Number => 1;

        public static int Predict(int left, int above, int aboveLeft) => left;
    }

    public readonly struct Up : IPrediction
    {
        public static byte Number => 2;

        public static int Predict(int left, int above, int aboveLeft) => above;
    }

    public readonly struct Average : IPrediction
    {
        public static byte Number => 3;

        public static int Predict(int left, int above, int aboveLeft) => (left + above) >> 1;
    }

    public readonly struct Paeth : IPrediction
    {
        public static byte Number => 4;

        // Whichever of the three is nearest to left + above - above left.
        public static int Predict(int left, int above, int aboveLeft)
        {
            int toLeft = Math.Abs(above - aboveLeft);
            int toAbove = Math.Abs(left - aboveLeft);
            int toAboveLeft = Math.Abs(left + above - (2 * aboveLeft));
            return toLeft <= toAbove && toLeft <= toAboveLeft ? left : toAbove <= toAboveLeft ? above : aboveLeft;
        }
    }
}
