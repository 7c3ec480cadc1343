using System.Diagnostics;

namespace Allocator.Tests.Pooling;

/// <summary>Many more threads than cores that rent blocks of one pool, write to them, return them, and let others run.</summary>
internal abstract class CrowdedPool : IDisposable
{
    /// <summary>The most blocks: as many as there are threads with four each.</summary>
    protected const int MaximumBlocks = 4096;

    private const int BlockSize = 4 << 20;

    /// <summary>Gets how many blocks have ever had memory.</summary>
    public abstract int CommittedBlocks { get; }

    /// <summary>
    /// Has each thread hold so many blocks at a time, over and over, until all have rented <paramref name="rents"/> in all.
    /// </summary>
    /// <returns>What 9,999 of 10,000 rents do not exceed, in ticks.</returns>
    public long Run(int threads, int held, int rents)
    {
        int rounds = rents / threads / held;
        long[][] waits = [.. Enumerable.Range(0, threads).Select(_ => new long[rounds * held])];
        using ManualResetEventSlim start = new();
        using CountdownEvent ready = new(threads);
        Thread[] crowd =
        [
            .. waits.Select(ofThread => new Thread(() =>
            {
                ready.Signal();
                start.Wait();
                for (int i = 0; i < ofThread.Length; i += held)
                {
                    RentAndReturn(ofThread.AsSpan(i, held));
                    Thread.Yield();
                }
            }, 256 * 1024)),
        ];

        // One round before, alone: it makes what a pool makes once.
        RentAndReturn(waits[0].AsSpan(0, held));
        Array.ForEach(crowd, static thread => thread.Start());
        ready.Wait();
        start.Set();
        Array.ForEach(crowd, static thread => thread.Join());
        long[] all = [.. waits.SelectMany(static ofThread => ofThread).Order()];
        return all[(int)(all.Length * 0.9999)];
    }

    public abstract void Dispose();

    /// <summary>Rents as many blocks as there are waits to note, writes to each, and returns them.</summary>
    protected abstract void RentAndReturn(Span<long> waits);

    /// <summary>The library's, as users have it.</summary>
    internal sealed class OfLibrary : CrowdedPool
    {
        private readonly MemoryAllocator _allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = MaximumBlocks * (BlockSize >> 20),
            TrimPeriod = TimeSpan.FromHours(1),
            Safety = SafetyMode.Standard,
        });

        public OfLibrary(int prewarmedBlocks) => _allocator.Prewarm((long)prewarmedBlocks * BlockSize);

        public override int CommittedBlocks => (int)(_allocator.GetStatistics().PeakCommittedBytes / BlockSize);

        public override void Dispose() => _allocator.Dispose();

        protected override void RentAndReturn(Span<long> waits)
        {
            long before = Stopwatch.GetTimestamp();
            using MemoryLease<byte> block = _allocator.Rent<byte>(BlockSize);
            waits[0] = Stopwatch.GetTimestamp() - before;
            block.Span[0] = 1;
            if (waits.Length > 1)
            {
                RentAndReturn(waits[1..]);
            }
        }
    }

    /// <summary>A lock and a stack over memory of the C heap.</summary>
    internal sealed unsafe class OfLockAndStack : CrowdedPool
    {
        private readonly Stack<nint> _idle = new(MaximumBlocks);
        private readonly object _lock = new();
        private int _committed;

        public OfLockAndStack(int prewarmedBlocks)
        {
            while (_committed < prewarmedBlocks)
            {
                nint block = Commit();
                new Span<byte>((void*)block, BlockSize).Fill(1);
                _idle.Push(block);
            }
        }

        public override int CommittedBlocks => _committed;

        public override void Dispose()
        {
            while (_idle.TryPop(out nint block))
            {
                NativeMemory.AlignedFree((void*)block);
            }
        }

        protected override void RentAndReturn(Span<long> waits)
        {
            long before = Stopwatch.GetTimestamp();
            nint block = Rent();
            waits[0] = Stopwatch.GetTimestamp() - before;
            *(byte*)block = 1;
            if (waits.Length > 1)
            {
                RentAndReturn(waits[1..]);
            }

            lock (_lock)
            {
                _idle.Push(block);
            }
        }

        private nint Rent()
        {
            lock (_lock)
            {
                if (_idle.TryPop(out nint block))
                {
                    return block;
                }
            }

            return Commit();
        }

        private nint Commit()
        {
            Interlocked.Increment(ref _committed);
            return (nint)NativeMemory.AlignedAlloc(BlockSize, 64);
        }
    }
}
