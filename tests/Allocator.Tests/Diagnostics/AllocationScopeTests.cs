namespace Allocator.Tests.Diagnostics;

public class AllocationScopeTests
{
    [Fact]
    public void AssertNothingOutstanding_AllReturned_Passes()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        allocator.Allocate<byte>(100).Dispose();
        allocator.Allocate<byte>(3_000_000).Dispose();
        allocator.AllocatePixels<int>(3000, 3000).Dispose();
        allocator.Rent<byte>(2_000_000).Dispose();

        scope.AssertNothingOutstanding();
    }

    [Theory]
    [InlineData(100, 128)]
    [InlineData(3_000_000, 4 << 20)]
    [InlineData(10_000_000, 12 << 20)]
    public void AssertNothingOutstanding_AllocationOutstanding_NamesSizeAndStack(int length, long capacity)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "mine" });
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        using IMemoryOwner<byte> left = LeaveBehind(allocator, length);

        OutstandingAllocationsException exception = Assert.Throws<OutstandingAllocationsException>(scope.AssertNothingOutstanding);

        OutstandingAllocation only = Assert.Single(exception.Allocations);
        Assert.Equal((capacity, "mine"), (only.Bytes, only.AllocatorName));
        Assert.InRange(only.Age, TimeSpan.Zero, TimeSpan.MaxValue);
        Assert.Contains(nameof(LeaveBehind), only.ToString(), StringComparison.Ordinal);
        Assert.Contains(nameof(LeaveBehind), only.AllocationStackTrace.Split('\n')[0], StringComparison.Ordinal);
        Assert.StartsWith("1 allocation was not given back within this scope:", exception.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(LeaveBehind), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void GetOutstanding_DisposedButPinned_ListsIt()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000);
        MemoryHandle pin = owner.Memory.Pin();
        owner.Dispose();
        Assert.Single(scope.GetOutstanding());

        pin.Dispose();

        Assert.Empty(scope.GetOutstanding());
    }

    [Fact]
    public async Task GetOutstanding_TasksAndThreadsOfTheScope_BelongToIt()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        List<IDisposable> owners = [];
        await Task.Run(() => owners.Add(allocator.Allocate<byte>(500)));
        Thread thread = new(() => owners.Add(allocator.Allocate<byte>(2_000_000)));
        thread.Start();
        thread.Join();
        Assert.Equal([512L, 4L << 20], System.Linq.Enumerable.Select(scope.GetOutstanding(), allocation => allocation.Bytes));

        // Given back by a thread that knows of no scope.
        RunBeside(() => owners.ForEach(owner => owner.Dispose()));

        scope.AssertNothingOutstanding();
    }

    [Fact]
    public void GetOutstanding_CodeOutsideTheScope_IsNotListed()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        IDisposable? other = null;
        RunBeside(() => other = allocator.Allocate<byte>(2_000_000));

        Assert.Empty(scope.GetOutstanding());
        other!.Dispose();
    }

    [Fact]
    public void BeginScope_WithinAnother_ReportsToBoth()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope outer = MemoryDiagnostics.BeginScope();
        IMemoryOwner<byte> left;
        using (AllocationScope inner = MemoryDiagnostics.BeginScope())
        {
            left = allocator.Allocate<byte>(5);
            Assert.Single(inner.GetOutstanding());
        }

        Assert.Single(outer.GetOutstanding());
        using IMemoryOwner<byte> afterwards = allocator.Allocate<byte>(5);
        Assert.Equal(2, outer.GetOutstanding().Count);
        left.Dispose();
        Assert.Single(outer.GetOutstanding());
    }

    [Fact]
    public void Dispose_OfTheScope_EndsTracing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        AllocationScope scope = MemoryDiagnostics.BeginScope();
        scope.Dispose();
        scope.Dispose();

        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(5);

        Assert.Empty(scope.GetOutstanding());
    }

    [Fact]
    public void AssertNothingOutstanding_LoopLeaks_NamesTenAllocations()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        List<IDisposable> owners = [];
        for (int i = 0; i < 12; i++)
        {
            owners.Add(allocator.Allocate<byte>(5));
        }

        string message = Assert.Throws<OutstandingAllocationsException>(scope.AssertNothingOutstanding).Message;

        Assert.Contains("\n10. ", message, StringComparison.Ordinal);
        Assert.DoesNotContain("\n11. ", message, StringComparison.Ordinal);
        Assert.EndsWith("... and 2 more.", message, StringComparison.Ordinal);
        owners.ForEach(owner => owner.Dispose());
    }

    // On a thread that the flow of execution does not reach.
    private static void RunBeside(Action action)
    {
        Thread thread = new(() => action());
        thread.UnsafeStart();
        thread.Join();
    }

    private static IMemoryOwner<byte> LeaveBehind(MemoryAllocator allocator, int length) => allocator.Allocate<byte>(length);
}
