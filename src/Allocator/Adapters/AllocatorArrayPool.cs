using System.Buffers;

namespace Allocator.Adapters;

/// <summary>An allocator as the pool of arrays that other libraries take. The allocator and outstanding arrays outlive it.</summary>
internal sealed class AllocatorArrayPool : ArrayPool<byte>
{
    private readonly MemoryAllocator _allocator;

    public AllocatorArrayPool(MemoryAllocator allocator) => _allocator = allocator;

    public override byte[] Rent(int minimumLength) => minimumLength == 0 ? [] : _allocator.RentArray(minimumLength);

    public override void Return(byte[] array, bool clearArray = false)
    {
        Throw.IfNull(array, nameof(array));
        if (array.Length > 0 && !_allocator.TryReturnArray(array, clearArray))
        {
            Throw.NotRented(nameof(array), array.Length);
        }
    }
}
