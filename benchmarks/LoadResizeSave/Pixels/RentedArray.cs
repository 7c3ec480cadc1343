using System.Buffers;

namespace LoadResizeSave.Pixels;

/// <summary>An array of <see cref="ArrayPool{T}.Shared"/>, cut to the length asked for.</summary>
internal sealed class RentedArray<T> : IMemoryOwner<T>
{
    private readonly int _length;
    private T[]? _array;

    public RentedArray(int length)
    {
        _length = length;
        _array = ArrayPool<T>.Shared.Rent(length);
    }

    public Memory<T> Memory => (_array ?? throw new ObjectDisposedException(nameof(RentedArray<>))).AsMemory(0, _length);

    public void Dispose()
    {
        if (_array is { } array)
        {
            _array = null;
            ArrayPool<T>.Shared.Return(array);
        }
    }
}
