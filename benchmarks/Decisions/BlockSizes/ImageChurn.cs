using System;
using System.Collections.Generic;
using Allocator;
using Allocator.Allocators;
using Allocator.Pooling;
using Allocator.Trimming;
using Decisions.Machines;
using Measuring.Memory;

namespace Decisions.BlockSizes;

/// <summary>
/// Images that come and go in a pool with blocks of some size: before one is allocated, others, chosen at random, are disposed until there is room for it.
/// Nothing is trimmed meanwhile.
/// </summary>
internal sealed class ImageChurn : IDisposable
{
    private const int Seed = 1730;

    private readonly CountingSource _source = CountingSource.Create();
    private readonly MemoryAllocator _allocator;
    private readonly ImageLoad _load;
    private readonly ImageSizes _sizes = new(Seed);
    private readonly Random _random = new(Seed);
    private readonly List<MemoryGroup<byte>> _live = [];
    private readonly long _mostBytes;
    private long _liveBytes;

    /// <summary>Makes a pool and no image.</summary>
    public ImageChurn(int blockMegabytes, int poolMegabytes, ImageLoad load)
    {
        BlockMegabytes = blockMegabytes;
        _load = load;
        _mostBytes = (long)(load.Fill * poolMegabytes * MemorySize.Megabyte);
        MovedClock clock = new();
        _allocator = new PooledMemoryAllocator(new AllocatorSettings(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = poolMegabytes })
        {
            Geometry = new PoolGeometry(blockMegabytes * MemorySize.Megabyte, poolMegabytes / blockMegabytes),
            Source = _source,
            Clock = clock,
            Pressure = new NoPressure(),
            Scheduler = new TrimScheduler(clock, static () => { }, watchesCollections: false),
        });
    }

    /// <summary>Gets the size of a block, in MB.</summary>
    public int BlockMegabytes { get; }

    /// <summary>Replaces so many images.</summary>
    public void Run(int images)
    {
        for (int i = 0; i < images; i++)
        {
            _ = Allocate(out _, out _);
        }
    }

    /// <summary>Replaces so many images, and writes to each page of the new ones.</summary>
    public void RunAndWrite(int images)
    {
        for (int i = 0; i < images; i++)
        {
            foreach (Memory<byte> member in Allocate(out _, out _))
            {
                PageTouch.Write(member.Span);
            }
        }
    }

    /// <summary>Replaces so many images, and counts.</summary>
    public ChurnCounts Count(int images)
    {
        ChurnCounts counts = new();
        for (int i = 0; i < images; i++)
        {
            MakeRoom(out ImageSize size, out bool contiguous);
            long given = _allocator.GetStatistics().RentedBytes;
            long mappings = _source.Mappings;
            MemoryGroup<byte> image = Allocate(size, contiguous);
            MemoryAllocatorStatistics after = _allocator.GetStatistics();
            bool fromPool = _source.Mappings == mappings;
            counts.Images++;
            counts.FromPool += fromPool ? 1 : 0;
            counts.Contiguous += contiguous ? 1 : 0;
            counts.ContiguousFromPool += contiguous && fromPool ? 1 : 0;
            counts.Members += contiguous ? 0 : image.Count;
            counts.RequestedBytes += size.Bytes;
            counts.GivenBytes += after.RentedBytes - given;
            counts.PeakLiveBytes = Math.Max(counts.PeakLiveBytes, _liveBytes);
            counts.PeakCommittedBytes = Math.Max(counts.PeakCommittedBytes, after.CommittedBytes);
        }

        return counts;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _live.ForEach(static image => image.Dispose());
        _allocator.Dispose();
    }

    private MemoryGroup<byte> Allocate(out ImageSize size, out bool contiguous)
    {
        MakeRoom(out size, out contiguous);
        return Allocate(size, contiguous);
    }

    private void MakeRoom(out ImageSize size, out bool contiguous)
    {
        size = _sizes.Next();
        contiguous = _random.NextDouble() < _load.ContiguousPart;
        while (_live.Count > 0 && _liveBytes + size.Bytes > _mostBytes)
        {
            int index = _random.Next(_live.Count);
            _liveBytes -= _live[index].TotalLength;
            _live[index].Dispose();
            _live[index] = _live[^1];
            _live.RemoveAt(_live.Count - 1);
        }
    }

    private MemoryGroup<byte> Allocate(ImageSize size, bool contiguous)
    {
        MemoryGroup<byte> image = _allocator.AllocateGroup<byte>(size.Bytes, size.RowBytes, contiguous ? AllocationOptions.Contiguous : AllocationOptions.None);
        _live.Add(image);
        _liveBytes += size.Bytes;
        return image;
    }
}
