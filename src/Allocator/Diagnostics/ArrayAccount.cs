using System.Threading;

namespace Allocator.Diagnostics;

/// <summary>One thread's share of one allocator's <see cref="ArrayCounters"/>. Only that thread writes to it, hence without interlocked operations.</summary>
internal sealed class ArrayAccount
{
    private ArrayCounts _counts;

    public ArrayAccount(ArrayCounters owner) => Owner = owner;

    public ArrayCounters Owner { get; }

    // Volatile, so that 32-bit readers see no half of a count, and the counts of one rent appear in order.
    public void CountRent(int bytes)
    {
        Volatile.Write(ref _counts.RentedBytes, _counts.RentedBytes + bytes);
        Volatile.Write(ref _counts.Rents, _counts.Rents + 1);
    }

    public void CountReturn(int bytes)
    {
        Volatile.Write(ref _counts.ReturnedBytes, _counts.ReturnedBytes + bytes);
        Volatile.Write(ref _counts.Returns, _counts.Returns + 1);
    }

    public void AddRentsTo(ref ArrayCounts sum)
    {
        sum.Rents += Volatile.Read(ref _counts.Rents);
        sum.RentedBytes += Volatile.Read(ref _counts.RentedBytes);
    }

    public void AddReturnsTo(ref ArrayCounts sum)
    {
        sum.Returns += Volatile.Read(ref _counts.Returns);
        sum.ReturnedBytes += Volatile.Read(ref _counts.ReturnedBytes);
    }
}
