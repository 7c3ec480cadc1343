namespace Allocator.Lifetime;

/// <summary>
/// One member of a group as <see cref="Memory{T}"/>. It references the group, so that a member keeps the whole group alive.
/// </summary>
internal sealed class GroupMember<T>(MemoryGroup<T> group, int index) : MemoryManager<T>
    where T : struct
{
    private readonly MemoryGroup<T> _group = group;
    private readonly int _index = index;

    public override Memory<T> Memory => CreateMemory(_group.GetMemberSpan(_index).Length);

    public override Span<T> GetSpan() => _group.GetMemberSpan(_index);

    public override MemoryHandle Pin(int elementIndex = 0) => _group.PinMember(_index, elementIndex, this);

    public override void Unpin() => _group.Unpin();

    protected override bool TryGetArray(out ArraySegment<T> segment) => _group.TryGetArray(out segment);

    // The group is disposed, not its members.
    protected override void Dispose(bool disposing)
    {
    }
}
