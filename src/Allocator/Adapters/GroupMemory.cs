namespace Allocator.Adapters;

/// <summary>The bytes of a group: as many as it has, and no more.</summary>
internal sealed class GroupMemory : StreamMemory
{
    private readonly MemoryGroup<byte> _group;
    private readonly bool _leaveOpen;

    public GroupMemory(MemoryGroup<byte> group, bool leaveOpen)
    {
        _group = group;
        _leaveOpen = leaveOpen;
        Capacity = group.TotalLength;
    }

    public override void Grow(long capacity, bool clean = false, bool withReserve = false) => Throw.FixedLength(Capacity);

    // The group does not know the allocator that it is from.
    public override IMemoryOwner<byte> RentApart(int length) => MemoryPool<byte>.Shared.Rent(length);

    public override void Dispose()
    {
        ForgetBlock();
        if (!_leaveOpen)
        {
            _group.Dispose();
        }
    }

    protected override Memory<byte> Find(long position, out long start)
    {
        int index = (int)(position / _group.BlockLength);
        start = (long)index * _group.BlockLength;
        return _group[index];
    }
}
