namespace Allocator.Tests;

public class MemoryLeaseTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    [InlineData(TestSetup.BlockSize)]
    [InlineData(40 * TestSetup.BlockSize)]
    public void Span_UntilDispose_IsTheMemory(int length)
    {
        using TestSetup setup = new();
        using (MemoryLease<byte> lease = setup.Allocator.Rent<byte>(length, AllocationOptions.Clean))
        {
            Assert.Equal((length, length), (lease.Length, lease.Span.Length));
            Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)0));
            lease.Span.Fill(1);
            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(TestSetup.BlockSize)]
    public void Dispose_OfACopyAndTheOriginal_ReturnsOnce(int length)
    {
        using TestSetup setup = new();
        MemoryLease<byte> lease = setup.Allocator.Rent<byte>(length);
        MemoryLease<byte> copy = lease;
        lease.Dispose();
        copy.Dispose();

        using MemoryLease<byte> first = setup.Allocator.Rent<byte>(length);
        using MemoryLease<byte> second = setup.Allocator.Rent<byte>(length);
        copy.Dispose();
        first.Span.Fill(1);
        second.Span.Fill(2);
        Assert.Equal(-1, first.Span.IndexOfAnyExcept((byte)1));
        Assert.Equal(2, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(TestSetup.BlockSize)]
    public void Span_AfterDispose_Throws(int length)
    {
        using TestSetup setup = new();
        MemoryLease<byte> lease = setup.Allocator.Rent<byte>(length);
        lease.Dispose();
        bool threw = false;
        try
        {
#pragma warning disable ALLOC002 // What is tested is that it throws.
            lease.Span[0] = 1;
#pragma warning restore ALLOC002
        }
        catch (ObjectDisposedException)
        {
            threw = true;
        }

        Assert.True(threw);
    }

    [Fact]
    public void Default_IsEmptyAndDisposable()
    {
        MemoryLease<int> lease = default;
        Assert.True(lease.Span.IsEmpty);
        Assert.Equal(0, lease.Length);
        lease.Dispose();
    }
}
