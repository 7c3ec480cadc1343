using System.Runtime.InteropServices;
using Pool = Allocator.MemoryAllocator;

namespace Allocator.ImageSharp.Tests;

/// <summary>The object that ImageSharp 4 wants around each buffer, and its own limits.</summary>
public class TrackedOwnerTests
{
    private const int Block = 4 << 20;

    /// <summary>Never less safe than without the package: the smaller of ImageSharp's own and the pool's.</summary>
    [Theory]
    [InlineData(20, 20L << 20)]
    [InlineData(null, 4L << 30)]
    [InlineData(10_000, 4L << 30)]
    public void Constructor_Limits_AreTheSmallerOfImageSharpsAndThePools(int? megabytes, long group)
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = megabytes });
        Assert.Equal((1 << 30, group, long.MaxValue), new ImageSharpAllocator(pool).Limits);
    }

    [Fact]
    public void Dispose_TwiceAndAfterwards_ReturnsOnceAndThrows()
    {
        using Pool pool = Pool.Create();
        ImageSharpAllocator adapter = new(pool);
        IMemoryOwner<int> owner = adapter.Allocate<int>(1000);
        Assert.Equal(4000, adapter.TrackedBytes);

        owner.Dispose();
        owner.Dispose();

        Assert.Equal((0L, 0L), (adapter.TrackedBytes, pool.GetStatistics().OutstandingAllocations));
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
    }

    [Fact]
    public void Memory_KeptBeyondDispose_CannotBeRead()
    {
        using Pool pool = Pool.Create();
        IMemoryOwner<int> owner = new ImageSharpAllocator(pool).Allocate<int>(1000);
        Memory<int> kept = owner.Memory;
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => kept.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => kept.Pin());
    }

    [Fact]
    public void Pin_ThroughTheOwner_IsThePoolsAddressUntilTheHandleIsDisposed()
    {
        using Pool pool = Pool.Create();
        using IMemoryOwner<byte> owner = new ImageSharpAllocator(pool).Allocate<byte>(Block);
        MemoryHandle handle = owner.Memory[100..].Pin();
        nint expected = Address(owner.Memory.Span) + 100;

        Assert.Equal(expected, Address(handle));
        owner.Dispose();
        Assert.Equal(1, pool.GetStatistics().OutstandingAllocations);
        handle.Dispose();
        Assert.Equal(0, pool.GetStatistics().OutstandingAllocations);
    }

    /// <summary>Streams then need no copy.</summary>
    [Fact]
    public void TryGetArray_SmallBuffer_IsThatOfThePoolsOwner()
    {
        using Pool pool = Pool.Create();
        using IMemoryOwner<byte> owner = new ImageSharpAllocator(pool).Allocate<byte>(100);
        using IMemoryOwner<byte> without = pool.Allocate<byte>(100);
        bool isArray = MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> array);
        Assert.Equal(MemoryMarshal.TryGetArray<byte>(without.Memory, out _), isArray);
        Assert.Equal(array.Array is null ? 0 : 100, array.Count);
    }

    /// <summary>What version 4 costs more than version 3: one object, of one field and those of its base.</summary>
    [Fact]
    public void Allocate_OneBuffer_MakesOneObjectMoreThanThePool()
    {
        using Pool pool = Pool.Create();
        ImageSharpAllocator adapter = new(pool);
        long own = BytesOfManyRents(() => pool.Allocate<byte>(Block));
        long tracked = BytesOfManyRents(() => adapter.Allocate<byte>(Block));

        // A header, the two fields of the declared base, the owner, and whether it was used.
        const int Rents = 100;
        Assert.InRange((tracked - own) / Rents, 1, 48);
    }

    private static long BytesOfManyRents(Func<IMemoryOwner<byte>> allocate)
    {
        allocate().Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
        {
            allocate().Dispose();
        }

        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static unsafe nint Address(MemoryHandle handle) => (nint)handle.Pointer;

    private static unsafe nint Address(Span<byte> span) => (nint)System.Runtime.CompilerServices.Unsafe.AsPointer(ref span[0]);
}
