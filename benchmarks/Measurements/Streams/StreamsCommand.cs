using Microsoft.IO;

namespace Measurements.Streams;

/// <summary>A stream written, read and disposed, of this library and of RecyclableMemoryStream, in turn.</summary>
internal static class StreamsCommand
{
    private const int ChunkBytes = 80 << 10;

    // Up to here a stream lies in arrays of ArrayPool.Shared, unless there is a limit. What that keeps is not known.
    private const int BytesInArrays = 1 << 20;

    private static readonly TimeSpan s_sample = TimeSpan.FromMilliseconds(5);

    private static readonly (string Name, int Bytes)[] s_sizes =
        [("64 KiB", 64 << 10), ("1 MiB", 1 << 20), ("16 MiB", 16 << 20)];

    private static readonly Option<int> s_rounds = new Option<int>("--rounds")
    {
        Description = "How many rounds each median is over.",
        DefaultValueFactory = _ => 200,
    }.Between(1, 100_000);

    public static Command Create() => new Command("streams", "Writes and reads pooled streams, beside RecyclableMemoryStream.")
    {
        s_rounds,
    }.Measures("Streams", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        int rounds = run.Get(s_rounds, 5);
        List<ResultRow> rows = [];
        foreach ((string name, int bytes) in s_sizes)
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            RecyclableMemoryStreamManager manager = new();
            IReadOnlyList<OperationTime> times = Compare(rounds, bytes, [() => allocator.CreateStream(), () => manager.GetStream()]);
            double? kept = bytes <= BytesInArrays ? null : allocator.GetStatistics().CommittedBytes;
            allocator.ReleaseRetainedResources();
            rows.Add(Row(name, "PooledMemoryStream", times[0], kept, kept is null ? null : allocator.GetStatistics().CommittedBytes));
            double free = manager.SmallPoolFreeSize + manager.LargePoolFreeSize;
            rows.Add(Row(name, "RecyclableMemoryStream", times[1], free, free));
        }

        return run.NewDocument("Streams: PooledMemoryStream and RecyclableMemoryStream") with
        {
            Tables =
            [
                new ResultTable
                {
                    Title = "One stream: written in chunks of 80 KiB, read back, disposed",
                    Labels = ["content", "stream"],
                    Columns =
                    [
                        new ResultColumn("median", "µs", "0.0"), new ResultColumn("garbage", "bytes", "N0"),
                        new ResultColumn("kept afterwards", "KiB", "N0"), new ResultColumn("kept after a release", "KiB", "N0"),
                    ],
                    Rows = rows,
                },
            ],
            Notes =
            [
                "Both with their default options, on one thread, in turn within each round, once their code is compiled.",
                "RecyclableMemoryStream keeps blocks of 128 KiB in arrays of the GC; its manager has no call that releases them.",
                "Without a budget, PooledMemoryStream begins with arrays of ArrayPool.Shared. What that keeps is not in the table.",
            ],
        };
    }

    private static ResultRow Row(string size, string stream, OperationTime time, double? kept, double? released)
        => new([size, stream], [time.Median / 1000, time.AllocatedBytes, kept / 1024, released / 1024]);

    private static IReadOnlyList<OperationTime> Compare(int rounds, int bytes, Func<Stream>[] streams)
    {
        byte[] chunk = new byte[ChunkBytes];
        SideBySide both = new(rounds, s_sample);
        foreach (Func<Stream> create in streams)
        {
            both.Add("", count =>
            {
                for (int i = 0; i < count; i++)
                {
                    UseOnce(create, chunk, bytes);
                }
            });
        }

        return both.Run();
    }

    private static void UseOnce(Func<Stream> create, byte[] chunk, int bytes)
    {
        using Stream stream = create();
        for (int written = 0; written < bytes; written += chunk.Length)
        {
            stream.Write(chunk, 0, Math.Min(chunk.Length, bytes - written));
        }

        stream.Position = 0;
        while (stream.Read(chunk, 0, chunk.Length) > 0)
        {
        }
    }
}
