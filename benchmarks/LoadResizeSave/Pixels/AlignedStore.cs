namespace LoadResizeSave.Pixels;

/// <summary>
/// Lends memory of <c>NativeMemory.AlignedAlloc</c>: taken from the C library for each request, and freed when it is disposed.
/// </summary>
internal sealed class AlignedStore : PixelStore
{
    private long _bytes;

    public override long CommittedBytes => Volatile.Read(ref _bytes);

    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
        => new ArrayRaster<TPixel>(Allocate<byte>(checked(width * height * Unsafe.SizeOf<TPixel>())), width, height);

    public override IMemoryOwner<T> Allocate<T>(int length) => new AlignedBuffer<T>(this, length);

    private sealed unsafe class AlignedBuffer<T> : MemoryManager<T>
        where T : unmanaged
    {
        // What the codecs' vector loops like best: a cache line.
        private const nuint Alignment = 64;

        private readonly AlignedStore _store;
        private readonly int _length;
        private void* _address;

        public AlignedBuffer(AlignedStore store, int length)
        {
            _store = store;
            _length = length;
            _address = NativeMemory.AlignedAlloc((nuint)length * (nuint)sizeof(T), Alignment);
            _ = Interlocked.Add(ref store._bytes, (long)length * sizeof(T));
        }

        public override Span<T> GetSpan()
            => _address is null ? throw new ObjectDisposedException(nameof(AlignedBuffer<>)) : new Span<T>(_address, _length);

        public override MemoryHandle Pin(int elementIndex = 0) => new((T*)_address + elementIndex);

        public override void Unpin()
        {
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing && _address is not null)
            {
                NativeMemory.AlignedFree(_address);
                _address = null;
                _ = Interlocked.Add(ref _store._bytes, -(long)_length * sizeof(T));
            }
        }
    }
}
