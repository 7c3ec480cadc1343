using Allocator;

namespace Measurements.Heaps;

/// <summary>
/// A worker that holds leases. They live on the stack and in no array, so a batch is a recursion with four of them a level,
/// whose calls cost about a nanosecond for four leases. They are freed as the recursion unwinds: the last first, as elsewhere.
/// </summary>
internal sealed class LeaseBatchWorker(MemoryAllocator allocator, SizeClass sizeClass) : BatchWorker
{
    private const int LeasesPerLevel = 4;

    public override long RunBatch() => Hold(sizeClass.Blocks / LeasesPerLevel);

    // Not `using`: a lease lost to an exception ends the process anyway, and the handlers would be part of the time.
    private long Hold(int levels)
    {
        int size = sizeClass.SizeInBytes;
        MemoryLease<byte> first = allocator.Rent<byte>(size);
        Touch(ref first);
        MemoryLease<byte> second = allocator.Rent<byte>(size);
        Touch(ref second);
        MemoryLease<byte> third = allocator.Rent<byte>(size);
        Touch(ref third);
        MemoryLease<byte> fourth = allocator.Rent<byte>(size);
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
        if (sizeClass.IsTouched)
        {
            PageTouch.Write(lease.Span);
        }
    }
}
