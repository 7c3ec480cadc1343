using System.IO.Pipelines;

namespace Allocator.Tests.Adapters;

public class AllocatorMemoryPoolTests
{
    [Fact]
    public void Rent_AnySize_ReturnsExactlyThatLength()
    {
        using TestSetup setup = new();
        using MemoryPool<int> pool = setup.Allocator.AsMemoryPool<int>();
        foreach (int length in (int[])[0, 1, 100, 4 * TestSetup.BlockSize])
        {
            using IMemoryOwner<int> owner = pool.Rent(length);
            Assert.Equal(length, owner.Memory.Length);
            owner.Memory.Span.Fill(7);
        }

        using (IMemoryOwner<int> owner = pool.Rent())
        {
            Assert.Equal(1024, owner.Memory.Length);
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Rent_OutOfRange_Throws()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        using MemoryPool<long> pool = allocator.AsMemoryPool<long>();
        Assert.Equal(128 * 1024, pool.MaxBufferSize);
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(-2));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(pool.MaxBufferSize + 1));
        pool.Rent(pool.MaxBufferSize).Dispose();
        Assert.Throws<ArgumentException>(() => allocator.AsMemoryPool<ArraySegment<byte>>());
        using MemoryAllocator larger = MemoryAllocator.Create();
        using MemoryPool<byte> bytes = larger.AsMemoryPool<byte>();
        Assert.Equal(Environment.Is64BitProcess ? int.MaxValue : 1024 * 1024 * 1024, bytes.MaxBufferSize);
    }

    [Fact]
    public void Dispose_OfThePool_EndsItsRentAndNothingElse()
    {
        using TestSetup setup = new();
        MemoryPool<byte> pool = setup.Allocator.AsMemoryPool<byte>();
        using IMemoryOwner<byte> owner = pool.Rent(100);
        pool.Dispose();
        owner.Memory.Span.Clear();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(100));
        setup.Allocator.Allocate<byte>(100).Dispose();
    }

    [Fact]
    public void Rent_AllocatorDisposed_Throws()
    {
        TestSetup setup = new();
        using MemoryPool<byte> pool = setup.Allocator.AsMemoryPool<byte>();
        setup.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(100));
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.AsMemoryPool<byte>());
    }

    [Fact]
    public async Task Pipe_OverThePool_CarriesBytesAndReturnsAllMemory()
    {
        using TestSetup setup = new();
        using MemoryPool<byte> pool = setup.Allocator.AsMemoryPool<byte>();
        byte[] content = PooledMemoryStreamTests.Bytes(100_000);
        Pipe pipe = new(new PipeOptions(pool, pauseWriterThreshold: 0, minimumSegmentSize: 20_000, useSynchronizationContext: false));
        await pipe.Writer.WriteAsync(content);
        await pipe.Writer.CompleteAsync();
        Assert.True(setup.Statistics.OutstandingAllocations >= 5);

        MemoryStream read = new();
        await pipe.Reader.CopyToAsync(read);
        await pipe.Reader.CompleteAsync();

        Assert.Equal(content, read.ToArray());
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }
}
