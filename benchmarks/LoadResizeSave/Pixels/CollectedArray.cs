using System.Buffers;

namespace LoadResizeSave.Pixels;

/// <summary>A new array that the garbage collector takes back some time after its use.</summary>
internal sealed class CollectedArray<T> : IMemoryOwner<T>
{
    private T[]? _array;

    public CollectedArray(int length)
    {
        _array = new T[length];
    }

    public Memory<T> Memory => _array ?? throw new ObjectDisposedException(nameof(CollectedArray<>));

    public void Dispose() => _array = null;
}
