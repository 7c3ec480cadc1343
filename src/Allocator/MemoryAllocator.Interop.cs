using System;
using System.Buffers;
using System.Runtime.CompilerServices;
using Allocator.Adapters;
using Allocator.Allocators;

namespace Allocator;

/// <content>The allocator in the shapes that other code takes.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>Gives this allocator as a <see cref="MemoryPool{T}"/>, for <c>System.IO.Pipelines</c> and whatever else takes one.</summary>
    /// <typeparam name="T">The element type; it contains no references.</typeparam>
    /// <returns>
    /// A pool whose <c>Rent</c> allocates here, with exactly the length that was asked for, or about 4 KB where none was. It owns nothing: disposing it ends its own <c>Rent</c> only, neither this allocator
    /// nor what is out.
    /// </returns>
    /// <remarks>Costs one object, which can be kept for ever and shared by threads. Its <c>MaxBufferSize</c> is the limit for one allocation.</remarks>
    /// <exception cref="ArgumentException"><typeparamref name="T"/> contains references.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    public MemoryPool<T> AsMemoryPool<T>()
        where T : struct
    {
        ThrowIfContainsReferences<T>();
        int size = Unsafe.SizeOf<T>();
        return new AllocatorMemoryPool<T>(this, (int)Math.Min(int.MaxValue, GetRouter().AllocationLimitInBytes / size), size);
    }

    /// <summary>Makes a stream that grows in pooled blocks, for codecs and other code that writes streams. What was written is never moved or copied.</summary>
    /// <param name="capacity">The bytes that memory is taken for now; the stream is empty all the same, and grows beyond that.</param>
    /// <returns>The stream, which the caller disposes.</returns>
    /// <remarks>
    /// Blocks are small at first, from 4 KB, and double up to 4 MiB. Each is an allocation of its own, so the limit for one allocation does not limit the stream. What goes wrong while it grows leaves it as it was.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    /// <exception cref="MemoryLimitExceededException">The memory budget had no room in time.</exception>
    /// <exception cref="OutOfMemoryException">The operating system refused the memory, again and again.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    [return: OwnedBuffer]
    public PooledMemoryStream CreateStream(long capacity = 0)
    {
        if (capacity < 0)
        {
            Throw.OutOfRange(nameof(capacity), capacity, "must not be negative");
        }

        RequestRouter router = GetRouter();
        GrowingMemory memory = new(this, router.ArrayThresholdInBytes, (int)Math.Min(router.BlockSizeInBytes, router.AllocationLimitInBytes));
        memory.Grow(capacity);
        return new PooledMemoryStream(memory, length: 0);
    }
}
