using System.Buffers;
using Allocator;

namespace A4Copy.Buffers;

/// <summary>Memory of this library, pinned for as long as its address is used.</summary>
internal sealed unsafe class AllocatorSource : BufferSource
{
    // Source and destination are 7 blocks of 4 MiB each, and 2 more.
    private const int PoolMegabytes = 64;

    private readonly MemoryAllocator _allocator;

    private AllocatorSource(MemoryAllocatorOptions options) => _allocator = MemoryAllocator.Create(options);

    /// <summary>Returns the allocator with a pool: a page is a run of its blocks, and comes back to it.</summary>
    public static AllocatorSource CreatePool() => new(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes });

    /// <summary>Returns the allocator without a pool: each page is mapped by the operating system, and unmapped.</summary>
    public static AllocatorSource CreateVirtual()
        => new(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0, NativeMemory = NativeMemoryKind.Virtual });

    /// <inheritdoc/>
    public override PageBuffer Allocate()
    {
        IMemoryOwner<byte> owner = _allocator.Allocate<byte>(A4Page.SizeInBytes);
        MemoryHandle pin = owner.Memory.Pin();
        return new PageBuffer((nint)pin.Pointer, owner, pin);
    }

    /// <inheritdoc/>
    public override void Free(in PageBuffer buffer)
    {
        buffer.Pin.Dispose();
        buffer.Owner!.Dispose();
    }

    /// <inheritdoc/>
    public override void AllocateAndFree(int count)
    {
        for (int i = 0; i < count; i++)
        {
            _allocator.Allocate<byte>(A4Page.SizeInBytes).Dispose();
        }
    }
}
