using Allocator;

namespace ContractSuite;

/// <summary>What one allocator gives out ends when it is disposed, once, and not before a pin does.</summary>
internal sealed class LifetimeContract(MemoryAllocator allocator)
{
    public unsafe void PinPastDispose()
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000);
        Pattern.Fill(owner.Memory.Span, 5);
        MemoryHandle pin = owner.Memory.Pin();
        owner.Dispose();
        allocator.ReleaseRetainedResources();
        using (IMemoryOwner<byte> other = allocator.Allocate<byte>(3_000_000))
        {
            other.Memory.Span.Fill(0xEE);
            Pattern.Verify(new Span<byte>(pin.Pointer, 3_000_000), 5);
        }

        pin.Dispose();
    }

    public void UseAfterDispose()
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000);
        Memory<byte> memory = owner.Memory;
        PixelBuffer<int> pixels = allocator.AllocatePixels<int>(2000, 1000);
        MemoryGroup<int> group = allocator.AllocateGroup<int>(5_000_000);
        owner.Dispose();
        pixels.Dispose();
        group.Dispose();

#pragma warning disable ALLOC002 // What is checked here is that it throws.
        Checks.Throws<ObjectDisposedException>(() => memory.Span.Clear());
        Checks.Throws<ObjectDisposedException>(() => _ = owner.Memory.Length);
        Checks.Throws<ObjectDisposedException>(() => pixels.DangerousGetRowSpan(0).Clear());
        Checks.Throws<ObjectDisposedException>(() => group[0].Span.Clear());
#pragma warning restore ALLOC002
    }

    // Were the second Dispose to count, two renters would be given the same block.
    public void DoubleDispose()
    {
        foreach (int length in new[] { 100_000, 3_000_000, 9_000_000, 40_000_000 })
        {
            IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            MemoryLease<byte> lease = allocator.Rent<byte>(length);
            MemoryLease<byte> copy = lease;
            for (int i = 0; i < 2; i++)
            {
                owner.Dispose();
                lease.Dispose();
                copy.Dispose();
            }

            using IMemoryOwner<byte> first = allocator.Allocate<byte>(length);
            using IMemoryOwner<byte> second = allocator.Allocate<byte>(length);
            using IMemoryOwner<byte> third = allocator.Allocate<byte>(length);
            Pattern.Fill(first.Memory.Span, 1);
            Pattern.Fill(second.Memory.Span, 2);
            Pattern.Fill(third.Memory.Span, 3);
            Pattern.Verify(first.Memory.Span, 1);
            Pattern.Verify(second.Memory.Span, 2);
            Checks.That(allocator.GetStatistics().OutstandingAllocations == 3, "three buffers out");
        }
    }

    public static void BuffersOutliveTheirAllocator(NativeMemoryKind kind)
    {
        MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { NativeMemory = kind });
        using IMemoryOwner<byte> block = allocator.Allocate<byte>(3_000_000);
        using IMemoryOwner<byte> mapping = allocator.Allocate<byte>(400_000_000);
        Pattern.Fill(block.Memory.Span, 1);
        Pattern.Fill(mapping.Memory.Span, 2);
        allocator.Dispose();
        Checks.Throws<ObjectDisposedException>(() => allocator.Allocate<byte>(1).Dispose());
        Pattern.Verify(block.Memory.Span, 1);
        Pattern.Verify(mapping.Memory.Span, 2);
        block.Dispose();
        mapping.Dispose();
        Checks.That(allocator.GetStatistics() is { CommittedBytes: 0, OutstandingAllocations: 0 }, "nothing held");
    }
}
