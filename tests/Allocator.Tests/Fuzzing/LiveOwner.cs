namespace Allocator.Tests.Fuzzing;

/// <summary>A contiguous buffer.</summary>
internal sealed class LiveOwner<T> : LiveBuffer
    where T : unmanaged
{
    private readonly int _length;
    private IMemoryOwner<T>? _owner;

    public LiveOwner(int id, IMemoryOwner<T> owner, int length)
        : base(id)
    {
        Assert.Equal(length, owner.Memory.Length);
        _length = length;
        _owner = owner;
    }

    private Span<byte> Bytes => MemoryMarshal.AsBytes(_owner!.Memory.Span);

    public override void Abandon() => _owner = null;

    protected override void DisposeOwner() => _owner!.Dispose();

    protected override void ExpectAll(byte value) => ExpectAll(Bytes, value);

    protected override void FillAll(byte value) => Bytes.Fill(value);

    protected override void ExpectRefusal()
    {
        IMemoryOwner<T> owner = _owner!;
        Assert.Throws<ObjectDisposedException>(() => owner.Memory.Span.Length);
    }

    protected override MemoryHandle? PinAny() => _owner!.Memory.Pin();

    protected override unsafe void ExpectPinned(in MemoryHandle pin) =>
        ExpectAll(new ReadOnlySpan<byte>(pin.Pointer, _length * Unsafe.SizeOf<T>()), Value);
}
