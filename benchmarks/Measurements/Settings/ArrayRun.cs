namespace Measurements.Settings;

/// <summary>What a child is to do: jobs on some threads, beside so much native memory that is in use all the time.</summary>
internal sealed record ArrayRequest(int Jobs, int Workers, int NativeMegabytes);

/// <summary>
/// What one child measured. Resident memory is in bytes: the median and the most meanwhile, and what was left two seconds afterwards.
/// </summary>
/// <param name="Refused">The jobs that ended with <c>OutOfMemoryException</c>.</param>
internal sealed record ArrayFigures(
    int Refused, double Seconds, double ProcessorSeconds, double Running, double Peak, double Idle, int Gen2);

/// <summary>
/// Jobs as an imaging application has them that pools nothing: a new array for the file, one for the pixels of 8 to 15 megapixels of 3
/// bytes, one for a picture of a quarter of the width, rows in between; all written to, and left to the collector.
/// </summary>
internal sealed class ArrayRun(ArrayRequest request)
{
    private const int LeastPixels = 8_000_000;
    private const int MostPixels = 15_000_000;
    private const int BytesPerPixel = 3;
    private const int RowLength = 16_000;
    private const int Rows = 1000;
    private const int PageSize = 4096;
    private const int Seed = 23;

    private static readonly TimeSpan s_afterwards = TimeSpan.FromSeconds(2);

    private int _begun;
    private int _refused;

    public static ChildTask<ArrayRequest, ArrayFigures> Task { get; } = new(
        "arrays", MeasurementJson.Default.ArrayRequest, MeasurementJson.Default.ArrayFigures, static request => new ArrayRun(
            request).Run());

    /// <summary>Runs in this process, with the settings that it was started with.</summary>
    private ArrayFigures Run()
    {
        TakeNativeMemory();
        using Sampler<double> sampler = new(TimeSpan.FromMilliseconds(5), static _ => ProcessMemory.ReadResidentOften());
        Stopwatch clock = Stopwatch.StartNew();
        TimeSpan processor = Environment.CpuUsage.TotalTime;
        List<Thread> threads = [.. Enumerable.Range(0, request.Workers).Select(_ => new Thread(Work))];
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        processor = Environment.CpuUsage.TotalTime - processor;
        double seconds = clock.Elapsed.TotalSeconds;
        double[] running = [.. sampler.Stop()];
        Thread.Sleep(s_afterwards);
        return new ArrayFigures(
            _refused,
            seconds,
            processor.TotalSeconds,
            Statistics.Median(running),
            running.Max(),
            ProcessMemory.ReadResident(),
            GC.CollectionCount(2));
    }

    private static byte[] NewArray(int length)
    {
        byte[] array = GC.AllocateUninitializedArray<byte>(length);
        for (int i = 0; i < length; i += PageSize)
        {
            array[i] = 1;
        }

        return array;
    }

    private unsafe void TakeNativeMemory()
    {
        nuint length = (nuint)request.NativeMegabytes << 20;
        if (length > 0)
        {
            new Span<byte>(NativeMemory.Alloc(length), checked((int)length)).Fill(1);
        }
    }

    private void Work()
    {
        for (int job; (job = Interlocked.Increment(ref _begun)) <= request.Jobs;)
        {
            try
            {
                DoJob(new Random(Seed + job));
            }
            catch (OutOfMemoryException)
            {
                _ = Interlocked.Increment(ref _refused);
            }
        }
    }

    private static void DoJob(Random random)
    {
        int pixels = random.Next(LeastPixels, MostPixels);
        byte[] file = NewArray(pixels / 4);
        byte[] picture = NewArray(pixels * BytesPerPixel);
        byte[] small = NewArray(pixels * BytesPerPixel / 16);
        long sum = 0;

        // Stands for the work: every byte is read, and each row has an array of its own as careless code has it.
        for (int row = 0; row < Rows; row++)
        {
            byte[] line = new byte[RowLength];
            ReadOnlySpan<byte> source = picture.AsSpan((int)((long)row * (picture.Length - RowLength) / Rows), RowLength);
            source.CopyTo(line);
            sum += line[row];
            small[row] = (byte)sum;
        }

        GC.KeepAlive(file);
        GC.KeepAlive(picture);
        GC.KeepAlive(small);
    }
}
