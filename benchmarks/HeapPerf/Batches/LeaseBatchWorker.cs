using System.Diagnostics;
using Allocator;
using HeapPerf.Heaps;

namespace HeapPerf.Batches;

/// <summary>
/// A worker that holds leases. They live on the stack and in no array, so a batch is a recursion with four of them a level,
/// whose calls cost about a nanosecond for four leases. They are freed as the recursion unwinds: the last first, as elsewhere.
/// </summary>
internal sealed class LeaseBatchWorker : BatchWorker
{
    /// <summary>How many leases a level of the recursion holds.</summary>
    public const int LeasesPerLevel = 4;

    private readonly MemoryAllocator _allocator;
    private readonly SizeClass _class;

    /// <summary>Prepares batches of <paramref name="sizeClass"/> from <paramref name="allocator"/>.</summary>
    public LeaseBatchWorker(MemoryAllocator allocator, SizeClass sizeClass)
    {
        _allocator = allocator;
        _class = sizeClass;
    }

    /// <inheritdoc/>
    protected override long RunBatch() => Hold(_class.Blocks / LeasesPerLevel);

    // Not `using`: a lease lost to an exception ends the process anyway, and the handlers would be part of the time.
    private long Hold(int levels)
    {
        int size = _class.SizeInBytes;
        MemoryLease<byte> first = _allocator.Rent<byte>(size);
        Touch(ref first);
        MemoryLease<byte> second = _allocator.Rent<byte>(size);
        Touch(ref second);
        MemoryLease<byte> third = _allocator.Rent<byte>(size);
        Touch(ref third);
        MemoryLease<byte> fourth = _allocator.Rent<byte>(size);
        Touch(ref fourth);
        long middle = levels > 1 ? Hold(levels - 1) : Stopwatch.GetTimestamp();
        fourth.Dispose();
        third.Dispose();
        second.Dispose();
        first.Dispose();
        return middle;
    }

    private void Touch(ref MemoryLease<byte> lease)
    {
        if (_class.IsTouched)
        {
            Pages.Touch(lease.Span);
        }
    }
}
