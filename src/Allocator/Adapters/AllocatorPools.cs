namespace Allocator.Adapters;

/// <summary>An allocator as the pool that pipelines and servers take. The allocator and outstanding memory outlive it.</summary>
internal sealed class AllocatorMemoryPool<T>(MemoryAllocator allocator, int maximumLength, int elementSizeInBytes) : MemoryPool<T>
    where T : struct
{
    // As MemoryPool<T>.Shared.
    private const int DefaultBytes = 4096;

    private readonly int _defaultLength = Math.Min(maximumLength, 1 + (DefaultBytes - 1) / elementSizeInBytes);
    private int _isDisposed;

    public override int MaxBufferSize { get; } = maximumLength;

    // Exactly the requested length, although there is more, so that Guarded mode finds writes beyond it.
    [return: OwnedBuffer]
    public override IMemoryOwner<T> Rent(int minBufferSize = -1)
    {
        if (minBufferSize < -1 || minBufferSize > MaxBufferSize)
        {
            Throw.OutOfRange(nameof(minBufferSize), minBufferSize, $"must be from 0 to {MaxBufferSize}, or -1 for a default size");
        }

        Throw.IfDisposed(Volatile.Read(ref _isDisposed) != 0, nameof(MemoryPool<>));
        return allocator.AllocateForAdapter<T>(minBufferSize == -1 ? _defaultLength : minBufferSize);
    }

    protected override void Dispose(bool disposing) => Volatile.Write(ref _isDisposed, 1);
}

/// <summary>An allocator as the pool of arrays that other libraries take. The allocator and outstanding arrays outlive it.</summary>
internal sealed class AllocatorArrayPool(MemoryAllocator allocator) : ArrayPool<byte>
{
    public override byte[] Rent(int minimumLength) => minimumLength == 0 ? [] : allocator.RentArray(minimumLength);

    public override void Return(byte[] array, bool clearArray = false)
    {
        Throw.IfNull(array, nameof(array));
        if (array.Length > 0 && !allocator.TryReturnArray(array, clearArray))
        {
            throw new ArgumentException(
                Invariant($"This array of {array.Length:N0} bytes was not rented from this pool, or has been returned already. ")
                    + "Return each array once, to the pool that it was rented from.", nameof(array));
        }
    }
}
