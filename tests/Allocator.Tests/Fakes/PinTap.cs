namespace Allocator.Tests.Fakes;

/// <summary>A caller's memory of 16 bytes, whose pinning and unpinning a test takes part in.</summary>
internal sealed unsafe class PinTap : MemoryManager<byte>
{
    private readonly byte[] _array = GC.AllocateArray<byte>(16, pinned: true);

    public Action? Pinning { get; set; }

    public Action? Unpinning { get; set; }

    public override Span<byte> GetSpan() => _array;

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        Pinning?.Invoke();
        return new MemoryHandle(Unsafe.AsPointer(ref _array[elementIndex]), default, this);
    }

    public override void Unpin() => Unpinning?.Invoke();

    protected override void Dispose(bool disposing)
    {
    }
}
