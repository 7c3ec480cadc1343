using System.Buffers;
using System.Diagnostics;
using Allocator;
using Decisions.Machines;
using Measuring.Classic;

namespace Decisions.TrimLatency;

/// <summary>The renters. Each latency is that of one rent and its return, with the clock's own cost in it.</summary>
internal static class RentLoops
{
    /// <summary>Rents an owner.</summary>
    public static void Owner(MemoryAllocator allocator, RentWindow window)
    {
        while (window.GoesOn)
        {
            long start = Stopwatch.GetTimestamp();
            allocator.Allocate<byte>(MemorySize.Block).Dispose();
            window.Record(Stopwatch.GetTimestamp() - start);
        }
    }

    /// <summary>Rents a lease.</summary>
    public static void Lease(MemoryAllocator allocator, RentWindow window)
    {
        while (window.GoesOn)
        {
            long start = Stopwatch.GetTimestamp();
            allocator.Rent<byte>(MemorySize.Block).Dispose();
            window.Record(Stopwatch.GetTimestamp() - start);
        }
    }

    /// <summary>Rents a lease and writes a byte, which is where a block without memory would cost a page fault.</summary>
    public static void LeaseAndWrite(MemoryAllocator allocator, RentWindow window)
    {
        while (window.GoesOn)
        {
            long start = Stopwatch.GetTimestamp();
            using (MemoryLease<byte> lease = allocator.Rent<byte>(MemorySize.Block))
            {
                lease.Span[0] = 1;
            }

            window.Record(Stopwatch.GetTimestamp() - start);
        }
    }

    /// <summary>Rents a buffer of the classic model.</summary>
    public static void Classic(ClassicAllocator allocator, RentWindow window)
    {
        while (window.GoesOn)
        {
            long start = Stopwatch.GetTimestamp();
            using (IMemoryOwner<byte> owner = allocator.Allocate<byte>(MemorySize.Block))
            {
            }

            window.Record(Stopwatch.GetTimestamp() - start);
        }
    }
}
