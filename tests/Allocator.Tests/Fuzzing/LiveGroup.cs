namespace Allocator.Tests.Fuzzing;

/// <summary>A group of members.</summary>
internal sealed class LiveGroup : LiveBuffer
{
    private MemoryGroup<byte>? _group;

    public LiveGroup(int id, MemoryGroup<byte> group, long length)
        : base(id)
    {
        Assert.Equal(length, group.TotalLength);
        _group = group;
    }

    public override void Abandon() => _group = null;

    protected override void DisposeOwner() => _group!.Dispose();

    protected override void ExpectAll(byte value)
    {
        long length = 0;
        foreach (Memory<byte> member in _group!)
        {
            ExpectAll(member.Span, value);
            length += member.Length;
        }

        Assert.Equal(_group.TotalLength, length);
    }

    protected override void FillAll(byte value) => _group!.Fill(value);

    protected override void ExpectRefusal()
    {
        MemoryGroup<byte> group = _group!;
        Assert.Throws<ObjectDisposedException>(() => group[0].Span.Length);
    }

    protected override MemoryHandle? PinAny() => _group!.TotalLength > 0 ? _group[_group.Count - 1].Pin() : null;

    protected override unsafe void ExpectPinned(in MemoryHandle pin) => Assert.Equal(Value, *(byte*)pin.Pointer);
}
