namespace Allocator.Diagnostics;

/// <summary>One thread's share of one allocator's <see cref="ArrayCounters"/>. Only that thread writes to it, hence without interlocked operations.</summary>
internal sealed class ArrayAccount
{
    private ArrayCounts _counts;

    public ArrayAccount(ArrayCounters owner) => Owner = owner;

    public ArrayCounters Owner { get; }

    public ref readonly ArrayCounts Counts => ref _counts;

    public void CountRent(int bytes)
    {
        _counts.Rents++;
        _counts.RentedBytes += bytes;
    }

    public void CountReturn(int bytes)
    {
        _counts.Returns++;
        _counts.ReturnedBytes += bytes;
    }
}
