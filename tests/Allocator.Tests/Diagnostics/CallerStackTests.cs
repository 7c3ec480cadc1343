namespace Allocator.Tests.Diagnostics;

public class CallerStackTests
{
    [Fact]
    public void Capture_CalledByATest_BeginsWithTheTest()
    {
        string stack = CallerStack.Capture();

        Assert.Contains(nameof(Capture_CalledByATest_BeginsWithTheTest), stack.Split('\n')[0], StringComparison.Ordinal);
    }

    // Through every room of the library that calls another: none of its frames is shown.
    [Theory]
    [InlineData("Adapters", "memory pool")]
    [InlineData("Adapters", "stream")]
    [InlineData("Budgeting", "queue")]
    [InlineData("Lifetime", "array")]
    public async Task BeginScope_AllocationThroughARoom_BeginsWithTheTest(string room, string way)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        using IDisposable held = way switch
        {
            "memory pool" => allocator.AsMemoryPool<byte>().Rent(2 << 20),
            "stream" => Written(allocator),
            "queue" => await allocator.AllocateAsync<byte>(2 << 20),
            _ => allocator.Allocate<byte>(1000),
        };

        OutstandingAllocation outstanding = Assert.Single(scope.GetOutstanding());
        Assert.StartsWith("at Allocator.Tests.", outstanding.AllocationStackTrace.TrimStart(), StringComparison.Ordinal);
        Assert.DoesNotContain($"at Allocator.{room}.", outstanding.AllocationStackTrace, StringComparison.Ordinal);
        Assert.DoesNotContain("at Allocator.MemoryAllocator.", outstanding.AllocationStackTrace, StringComparison.Ordinal);
    }

    [Fact]
    public void Capture_Lines_AreThoseOfTheRuntime()
    {
        string stack = CallerStack.Capture();

        Assert.Equal(Environment.StackTrace.Split('\n').Length - 1, stack.Split('\n').Length);
        Assert.All(stack.Split('\n'), static line => Assert.StartsWith("   at ", line, StringComparison.Ordinal));
    }

    private static PooledMemoryStream Written(MemoryAllocator allocator)
    {
        PooledMemoryStream stream = allocator.CreateStream();

        // The overload for spans has a frame of the runtime in between where a stream of netstandard2.0 does not know it.
        byte[] content = new byte[2 << 20];
        stream.Write(content, 0, content.Length);
        return stream;
    }
}
