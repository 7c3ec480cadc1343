using System;
using System.Buffers;

namespace LoadResizeSave.Pixels;

/// <summary>An array of <see cref="ArrayPool{T}.Shared"/>, cut to the length asked for.</summary>
internal sealed class RentedArray<T> : IMemoryOwner<T>
{
    private readonly int _length;
    private T[]? _array;

    /// <summary>Rents at least <paramref name="length"/> elements.</summary>
    public RentedArray(int length)
    {
        _length = length;
        _array = ArrayPool<T>.Shared.Rent(length);
    }

    /// <inheritdoc/>
    public Memory<T> Memory => (_array ?? throw new ObjectDisposedException(nameof(RentedArray<>))).AsMemory(0, _length);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_array is { } array)
        {
            _array = null;
            ArrayPool<T>.Shared.Return(array);
        }
    }
}
