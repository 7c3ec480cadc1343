using System.Globalization;

namespace Allocator.Tests.Lifetime;

public class EndedGuardTests
{
    [Fact]
    public void UseAfterDispose_OfAnOwner_SaysHowToFindItsAllocation()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        IMemoryOwner<int> large = allocator.Allocate<int>(1_000_000);
        IMemoryOwner<int> small = allocator.Allocate<int>(1000);
        large.Dispose();
        small.Dispose();

        // Rented again by now.
        using IMemoryOwner<int> next = allocator.Allocate<int>(900_000);

        AssertHint(() => large.Memory);
        AssertHint(() => small.Memory);
        large.Dispose();
        AssertHint(() => large.Memory.Span[0]);
        next.Memory.Span[0] = 1;
    }

    [Fact]
    public void UseAfterDispose_OfGroupPixelsLeaseAndPin_Throws()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        MemoryGroup<byte> group = allocator.AllocateGroup<byte>(10_000_000);
        PixelBuffer<int> pixels = allocator.AllocatePixels<int>(1000, 1000);
        IMemoryOwner<byte> pinned = allocator.Allocate<byte>(2_000_000);
        Memory<byte> member = group[0];
        Memory<byte> memory = pinned.Memory;
        group.Dispose();
        pixels.Dispose();
        MemoryHandle pin = memory.Pin();
        pinned.Dispose();
        pin.Dispose();

        AssertHint(() => member.Span[0]);
        AssertHint(() => pixels.DangerousGetRowSpan(0)[0]);
        AssertHint(() => memory.Pin());
        AssertHint(() =>
        {
            MemoryLease<int> lease = allocator.Rent<int>(3_000_000);
            lease.Dispose();
#pragma warning disable ALLOC002 // What is tested is that it throws.
            lease.Dispose();
            return lease.Span[0];
#pragma warning restore ALLOC002
        });
    }

    // The memory is another renter's by then, whose trace would name the wrong place.
    [Fact]
    public void UseAfterDispose_AnotherTracedRentHasTheMemory_DoesNotNameThatRent() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        MemoryLease<byte> lease = allocator.Rent<byte>(4_000_000);
        MemoryLease<byte> copy = lease;
        lease.Dispose();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        using IMemoryOwner<byte> next = AllocateHere(allocator, 4_000_000);
#pragma warning disable ALLOC002 // What is tested is that it does nothing to the next rent.
        copy.Dispose();
        string message = "";
        try
        {
            _ = copy.Span[0];
        }
        catch (ObjectDisposedException exception)
        {
            message = exception.Message;
        }
#pragma warning restore ALLOC002

        Assert.Contains("The buffer has been disposed.", message, StringComparison.Ordinal);
        Assert.DoesNotContain(nameof(AllocateHere), message, StringComparison.Ordinal);
        next.Memory.Span[0] = 1;
    }).Dispose();

    [Theory]
    [InlineData("1000", "1,024")]
    [InlineData("4000000", "4,194,304")]
    public void UseAfterDispose_WhileStacksAreKept_SaysWhereItWasAllocated(string length, string capacity) => RemoteExecutor.Invoke(
        static (length, capacity) =>
        {
            using AllocationScope scope = MemoryDiagnostics.BeginScope();
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "thumbnails" });
            IMemoryOwner<byte> owner = AllocateHere(allocator, int.Parse(length, CultureInfo.InvariantCulture));
            owner.Dispose();
            using IMemoryOwner<byte> next = allocator.Allocate<byte>(4_000_000);

            string message = Assert.Throws<ObjectDisposedException>(() => owner.Memory).Message;

            Assert.Contains($"It took {capacity} bytes, allocated", message, StringComparison.Ordinal);
            Assert.Contains(nameof(AllocateHere), message, StringComparison.Ordinal);
            Assert.Contains("s ago from thumbnails, at:", message, StringComparison.Ordinal);
        },
        length,
        capacity).Dispose();

    [Fact]
    public void UseAfterDispose_InGuardedMode_SaysWhereItWasReturned()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        IMemoryOwner<byte> owner = AllocateHere(allocator, 100);
        DisposeThere(owner);

        string message = Assert.Throws<ObjectDisposedException>(() => owner.Memory).Message;

        string expected = @$"It took 4,096 bytes, allocated \d+\.\d s ago, at:\n.*{nameof(AllocateHere)}[\s\S]*"
            + @$"\nIt was given back at:\n.*{nameof(DisposeThere)}";
        Assert.Matches(expected, message.ReplaceLineEndings("\n"));
    }

    private static void AssertHint(Func<object?> use) => Assert.Contains(
        "The buffer has been disposed. Within MemoryDiagnostics.BeginScope, this message says where it was allocated.",
        Assert.Throws<ObjectDisposedException>(use).Message,
        StringComparison.Ordinal);

    private static void DisposeThere(IMemoryOwner<byte> owner) => owner.Dispose();

    private static IMemoryOwner<byte> AllocateHere(MemoryAllocator allocator, int length) => allocator.Allocate<byte>(length);
}
