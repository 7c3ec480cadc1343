namespace LoadResizeSave.Pixels;

/// <summary>Allocates with <c>NativeMemory.AlignedAlloc</c>: from the C library for each request, freed when disposed.</summary>
internal sealed class AlignedStore : PixelStore
{
    private long _bytes;

    public override long CommittedBytes => Volatile.Read(ref _bytes);

    public override IMemoryOwner<byte> Allocate(int length) => new AlignedBuffer(this, length);

    private sealed unsafe class AlignedBuffer : MemoryManager<byte>
    {
        private const nuint CacheLine = 64;

        private readonly AlignedStore _store;
        private readonly int _length;
        private void* _address;

        public AlignedBuffer(AlignedStore store, int length)
        {
            _store = store;
            _length = length;
            _address = NativeMemory.AlignedAlloc((nuint)length, CacheLine);
            _ = Interlocked.Add(ref store._bytes, length);
        }

        public override Span<byte> GetSpan()
            => _address is null ? throw new ObjectDisposedException(nameof(AlignedBuffer)) : new Span<byte>(_address, _length);

        public override MemoryHandle Pin(int elementIndex = 0) => new((byte*)_address + elementIndex);

        public override void Unpin()
        {
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing && _address is not null)
            {
                NativeMemory.AlignedFree(_address);
                _address = null;
                _ = Interlocked.Add(ref _store._bytes, -_length);
            }
        }
    }
}
