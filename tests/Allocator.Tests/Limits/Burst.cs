namespace Allocator.Tests.Limits;

/// <summary>
/// Pictures that come faster than they are worked off, on several threads: the oldest is finished only when no other is let in. Those of
/// one thread take 1 GB: more than any limit here, also where the scheduler runs one thread after the other.
/// </summary>
internal static class Burst
{
    public const int BudgetMegabytes = 128;

    private const int Threads = 4;
    private const int PicturesOfThread = 64;
    private const int Side = 1448;

    /// <summary>Runs it to its end, with the budget or without.</summary>
    public static async Task RunAsync(bool hasBudget)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = BudgetMegabytes,
            MemoryBudgetMegabytes = hasBudget ? BudgetMegabytes : null,
            HonorMemoryLimit = hasBudget,
        });
        await Task.WhenAll(Enumerable.Range(0, Threads).Select(_ => Task.Run(() => WorkAsync(allocator))));

        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Assert.Equal((0, 0), (statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        Assert.InRange(statistics.PeakCommittedBytes, 1, (long)BudgetMegabytes << 20);
    }

    private static async Task WorkAsync(MemoryAllocator allocator)
    {
        long bytes = allocator.EstimatePixelBytes(Side, Side, sizeof(int), liveCopies: 2);
        Queue<Picture> held = new();
        for (int i = 1; i <= PicturesOfThread; i++)
        {
            ValueTask<MemoryReservation> admission = allocator.ReserveAsync(bytes);
            while (!admission.IsCompleted && held.TryDequeue(out Picture? oldest))
            {
                oldest.Finish();
            }

            held.Enqueue(new Picture(await admission, value: i));
        }

        foreach (Picture picture in held)
        {
            picture.Finish();
        }
    }

    /// <summary>Two pictures of one job, all pixels of one value.</summary>
    private sealed class Picture
    {
        private readonly MemoryReservation _reservation;
        private readonly PixelBuffer<int> _source;
        private readonly PixelBuffer<int> _copy;
        private readonly int _value;

        public Picture(MemoryReservation reservation, int value)
        {
            _reservation = reservation;
            _value = value;
            _source = reservation.AllocatePixels<int>(Side, Side);
            _source.ProcessPixelRows(
                static (accessor, value) =>
                {
                    for (int y = 0; y < accessor.Height; y++)
                    {
                        accessor.GetRowSpan(y).Fill(value);
                    }
                },
                value);
            _copy = reservation.AllocatePixels<int>(Side, Side);
            _source.CopyTo(_copy);
        }

        public void Finish()
        {
            for (int y = 0; y < Side; y++)
            {
                Assert.Equal(-1, _copy.DangerousGetRowSpan(y).IndexOfAnyExcept(_value));
            }

            _copy.Dispose();
            _source.Dispose();
            _reservation.Dispose();
        }
    }
}
