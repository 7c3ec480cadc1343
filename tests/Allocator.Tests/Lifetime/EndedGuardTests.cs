using System.Globalization;
using Allocator.Lifetime;

namespace Allocator.Tests.Lifetime;

public class EndedGuardTests
{
    private const long Hour = 3_600_000;

    [Theory]
    [InlineData(0L)]
    [InlineData(4_194_304L)]
    [InlineData((1L << 35) - 1)]
    public void Remember_AnySize_IsDescribedExactly(long bytes)
    {
        long memory = EndedGuard.Remember(7L << 20, bytes, Hour + 1000);

        string description = EndedGuard.Describe(EndedGuard.Instance, memory, 2 * Hour);

        Assert.Equal($"It had {bytes.ToString("N0", CultureInfo.InvariantCulture)} bytes, allocated about 3,599 s ago.", description);
    }

    // The clock may have run for years, or overflowed what is kept of it.
    [Theory]
    [InlineData(0)]
    [InlineData((1L << 27) * 1000 - 4000)]
    public void Remember_AnyTime_IsDescribedToFourSeconds(long clock)
    {
        for (int second = 1; second < 12; second++)
        {
            long start = clock + second * 1000;
            long memory = EndedGuard.Remember(0, 5, start);

            Assert.Matches("^It had 5 bytes, allocated about [0-3] s ago.$", EndedGuard.Describe(EndedGuard.Instance, memory, start));
            Assert.Matches(
                "^It had 5 bytes, allocated about (59|6[0-3]) s ago.$", EndedGuard.Describe(EndedGuard.Instance, memory, start + 60_000));
        }
    }

    [Fact]
    public void Remember_BeyondWhatItKeeps_KeepsTheGeneration() =>
        Assert.Equal(7L << 20, EndedGuard.Remember(7L << 20, 1L << 35, 1));

    [Theory]
    [InlineData(8, 1L << 34, true)]
    [InlineData(8, 1L << 35, false)]
    [InlineData(4, 1L, false)]
    public void CanRemember_WhereALongIsTwoWrites_IsFalse(int pointerSize, long bytes, bool canKeep) =>
        Assert.Equal(canKeep, EndedGuard.CanRemember(bytes, pointerSize));

    [Fact]
    public void Remember_UnknownTime_TellsTheSizeOnly()
    {
        long memory = EndedGuard.Remember(0, 1000, 0);

        Assert.Equal("It had 1,000 bytes.", EndedGuard.Describe(EndedGuard.Instance, memory));
    }

    [Fact]
    public void Remember_AnyTime_NeverPassesForAState()
    {
        for (long seconds = 1; seconds < 1L << 27; seconds += 997)
        {
            long memory = EndedGuard.Remember(0, 4096, seconds * 1000);

            // Neither as it is nor with the owner's reference, which a guard compares with.
            Assert.NotEqual(0, memory & 1 << 19);
            Assert.NotEqual(0, (memory + 1) & 1 << 19);
        }
    }

    [Fact]
    public void UseAfterDispose_OfAnOwner_SaysWhichAllocationItWas()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        IMemoryOwner<int> large = allocator.Allocate<int>(1_000_000);
        IMemoryOwner<int> small = allocator.Allocate<int>(1000);
        large.Dispose();
        small.Dispose();

        // Rented again by now.
        using IMemoryOwner<int> next = allocator.Allocate<int>(900_000);

        Assert.Contains(
            "It had 4,000,000 bytes, allocated about",
            Assert.Throws<ObjectDisposedException>(() => large.Memory).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "It had 4,000 bytes", Assert.Throws<ObjectDisposedException>(() => small.Memory).Message, StringComparison.Ordinal);
        large.Dispose();
        Assert.Contains(
            "It had 4,000,000 bytes",
            Assert.Throws<ObjectDisposedException>(() => large.Memory.Span[0]).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void UseAfterDispose_OfGroupPixelsLeaseAndPin_SaysWhichAllocationItWas()
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

        Assert.Contains(
            "bytes, allocated about", Assert.Throws<ObjectDisposedException>(() => member.Span[0]).Message, StringComparison.Ordinal);
        Assert.Contains(
            "It had 4,000,000 bytes",
            Assert.Throws<ObjectDisposedException>(() => pixels.DangerousGetRowSpan(0)[0]).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "It had 2,000,000 bytes", Assert.Throws<ObjectDisposedException>(() => memory.Pin()).Message, StringComparison.Ordinal);
        string message = Assert.Throws<ObjectDisposedException>(() =>
        {
            MemoryLease<int> lease = allocator.Rent<int>(3_000_000);
            lease.Dispose();
#pragma warning disable ALLOC002 // What is tested is that it throws.
            lease.Dispose();
            _ = lease.Span[0];
#pragma warning restore ALLOC002
        }).Message;
        Assert.Contains("It had 12,000,000 bytes.", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("1000")]
    [InlineData("4000000")]
    public void UseAfterDispose_WhileStacksAreKept_SaysWhereItWasAllocated(string length) => RemoteExecutor.Invoke(
        static length =>
        {
            using AllocationScope scope = MemoryDiagnostics.BeginScope();
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "thumbnails" });
            IMemoryOwner<byte> owner = AllocateHere(allocator, int.Parse(length, CultureInfo.InvariantCulture));
            owner.Dispose();
            using IMemoryOwner<byte> next = allocator.Allocate<byte>(4_000_000);

            string message = Assert.Throws<ObjectDisposedException>(() => owner.Memory).Message;

            Assert.Contains(
                $"It had {int.Parse(length, CultureInfo.InvariantCulture).ToString("N0", CultureInfo.InvariantCulture)} bytes, allocated",
                message,
                StringComparison.Ordinal);
            Assert.Contains(nameof(AllocateHere), message, StringComparison.Ordinal);
            Assert.Contains("s ago from thumbnails, at:", message, StringComparison.Ordinal);
        },
        length).Dispose();

    [Fact]
    public void UseAfterDispose_InGuardedMode_SaysWhereItWasGivenBack()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        IMemoryOwner<byte> owner = AllocateHere(allocator, 100);
        DisposeThere(owner);

        string message = Assert.Throws<ObjectDisposedException>(() => owner.Memory).Message;

        string expected = @$"It had 100 bytes, allocated \d\.\d s ago, at:\n.*{nameof(AllocateHere)}[\s\S]*"
            + @$"\nIt was given back at:\n.*{nameof(DisposeThere)}";
        Assert.Matches(expected, message.ReplaceLineEndings("\n"));
    }

    private static void DisposeThere(IMemoryOwner<byte> owner) => owner.Dispose();

    private static IMemoryOwner<byte> AllocateHere(MemoryAllocator allocator, int length) => allocator.Allocate<byte>(length);
}
