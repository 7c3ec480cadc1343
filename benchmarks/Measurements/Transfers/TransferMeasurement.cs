namespace Measurements.Transfers;

/// <summary>Reads the file into memory of every way, in turn, and times the phases.</summary>
internal sealed unsafe class TransferMeasurement : IDisposable
{
    /// <summary>The size of the bounce buffer, in bytes: that of a block of the pool.</summary>
    public const int BounceBytes = 4 << 20;

    private readonly SafeFileHandle _file;
    private readonly byte[] _content;
    private readonly IReadOnlyList<TransferWay> _ways;
    private readonly byte* _bounce;

    public TransferMeasurement(SafeFileHandle file, byte[] content, IReadOnlyList<TransferWay> ways)
    {
        _file = file;
        _content = content;
        _ways = ways;

        // One for the whole run, resident and warm: code that has to bounce keeps one too, and the copy is all that is charged for it.
        _bounce = (byte*)NativeMemory.AlignedAlloc(BounceBytes, (nuint)Environment.SystemPageSize);
        NativeMemory.Clear(_bounce, BounceBytes);
    }

    /// <summary>
    /// Measures transfers of <paramref name="bytes"/> bytes: as many rounds as fit <paramref name="budget"/>, within the two bounds.
    /// </summary>
    public IReadOnlyList<TransferTime> Run(int bytes, TimeSpan budget, int leastRounds, int mostRounds)
    {
        ulong expected = Checksum(_content.AsSpan(0, bytes));
        TransferWay[] ways = [.. _ways.Where(way => bytes >= way.LeastBytes && bytes <= way.MostBytes)];
        List<TransferPhases>[] rounds = [.. ways.Select(_ => new List<TransferPhases>())];
        long start = 0;
        for (int round = -1; round < leastRounds || (round < mostRounds && Stopwatch.GetElapsedTime(start) < budget); round++)
        {
            for (int i = 0; i < ways.Length; i++)
            {
                TransferPhases phases = Transfer(ways[i], bytes, expected);
                if (round >= 0)
                {
                    rounds[i].Add(phases);
                }
            }

            // The round before the first fills pools and heaps, and compiles the code.
            if (round < 0)
            {
                start = Stopwatch.GetTimestamp();
            }
        }

        return [.. ways.Select((way, i) => new TransferTime(way.Name, bytes, rounds[i]))];
    }

    public void Dispose() => NativeMemory.AlignedFree(_bounce);

    private static double Lap(ref long start)
    {
        long now = Stopwatch.GetTimestamp();
        double microseconds = Stopwatch.GetElapsedTime(start, now).TotalMicroseconds;
        start = now;
        return microseconds;
    }

    private TransferPhases Transfer(TransferWay way, int bytes, ulong expected)
    {
        long start = Stopwatch.GetTimestamp();
        TransferBuffer buffer = way.Allocate(bytes);
        double allocate = Lap(ref start);
        buffer.Lock();
        double locking = Lap(ref start);
        buffer.Touch();
        double populate = Lap(ref start);
        (double read, double copy) = way.Bounces ? ReadBouncing(buffer) : ReadDirectly(buffer);

        start = Stopwatch.GetTimestamp();
        ulong sum = 0;
        for (int i = 0; i < buffer.SegmentCount; i++)
        {
            sum += Checksum(buffer.GetSegment(i));
        }

        double process = Lap(ref start);
        buffer.Unlock();
        double unlocking = Lap(ref start);
        buffer.Dispose();
        double release = Lap(ref start);
        if (sum != expected)
        {
            throw new InvalidDataException($"{way.Name}: {bytes} bytes arrived with the sum {sum:x}; it must be {expected:x}.");
        }

        return new TransferPhases(allocate, locking, populate, read, copy, process, unlocking, release);
    }

    // The sum of all 64-bit words: work that reads every byte once, and shows that the right bytes came. The length is a multiple of 8.
    // Compiled well at its first call: large transfers are too few for the runtime to see that it matters.
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static ulong Checksum(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<Vector<ulong>> vectors = MemoryMarshal.Cast<byte, Vector<ulong>>(bytes);
        Vector<ulong> sums = Vector<ulong>.Zero;
        foreach (Vector<ulong> vector in vectors)
        {
            sums += vector;
        }

        ulong sum = Vector.Sum(sums);
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes[(vectors.Length * Vector<byte>.Count)..]))
        {
            sum += word;
        }

        return sum;
    }

    private (double Read, double Copy) ReadDirectly(TransferBuffer buffer)
    {
        long start = Stopwatch.GetTimestamp();
        long offset = 0;
        for (int i = 0; i < buffer.SegmentCount; i++)
        {
            Span<byte> segment = buffer.GetSegment(i);
            Fill(segment, offset);
            offset += segment.Length;
        }

        return (Lap(ref start), 0);
    }

    private (double Read, double Copy) ReadBouncing(TransferBuffer buffer)
    {
        double read = 0;
        double copy = 0;
        Span<byte> target = buffer.GetSegment(0);
        long start = Stopwatch.GetTimestamp();
        for (int offset = 0; offset < target.Length; offset += BounceBytes)
        {
            Span<byte> part = target.Slice(offset, Math.Min(BounceBytes, target.Length - offset));
            Span<byte> bounce = new(_bounce, part.Length);
            Fill(bounce, offset);
            read += Lap(ref start);
            bounce.CopyTo(part);
            copy += Lap(ref start);
        }

        return (read, copy);
    }

    private void Fill(Span<byte> memory, long offset)
    {
        while (!memory.IsEmpty)
        {
            int read = RandomAccess.Read(_file, memory, offset);
            if (read == 0)
            {
                throw new EndOfStreamException($"The file ends at {offset}; {memory.Length} more bytes were expected.");
            }

            memory = memory[read..];
            offset += read;
        }
    }
}
