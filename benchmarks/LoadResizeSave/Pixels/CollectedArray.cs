using System;
using System.Buffers;

namespace LoadResizeSave.Pixels;

/// <summary>A new array that the garbage collector takes back some time after its use.</summary>
internal sealed class CollectedArray<T> : IMemoryOwner<T>
{
    private T[]? _array;

    /// <summary>Makes an array of <paramref name="length"/> elements.</summary>
    public CollectedArray(int length)
    {
        _array = new T[length];
    }

    /// <inheritdoc/>
    public Memory<T> Memory => _array ?? throw new ObjectDisposedException(nameof(CollectedArray<>));

    /// <inheritdoc/>
    public void Dispose() => _array = null;
}
