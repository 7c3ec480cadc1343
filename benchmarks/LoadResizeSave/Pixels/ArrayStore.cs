namespace LoadResizeSave.Pixels;

/// <summary>Allocates managed arrays: from <see cref="ArrayPool{T}.Shared"/>, or a new one each time.</summary>
internal sealed class ArrayStore(bool pooled) : PixelStore
{
    /// <summary>
    /// Gets what the collector holds of the operating system's memory. It counts that only when it collects; heap that grew since then is
    /// counted by its contents.
    /// </summary>
    public override long CommittedBytes
        => Math.Max(GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes, GC.GetTotalMemory(forceFullCollection: false));

    public override IMemoryOwner<byte> Allocate(int length) => new ArrayOwner(length, pooled);

    private sealed class ArrayOwner(int length, bool pooled) : IMemoryOwner<byte>
    {
        private byte[]? _array = pooled ? ArrayPool<byte>.Shared.Rent(length) : new byte[length];

        public Memory<byte> Memory => (_array ?? throw new ObjectDisposedException(nameof(ArrayOwner))).AsMemory(0, length);

        public void Dispose()
        {
            if (pooled && _array is { } array)
            {
                ArrayPool<byte>.Shared.Return(array);
            }

            _array = null;
        }
    }
}
