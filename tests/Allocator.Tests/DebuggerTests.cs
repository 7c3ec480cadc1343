using System.Diagnostics;
using System.Reflection;

namespace Allocator.Tests;

/// <summary>What one sees at a breakpoint: each public class describes itself in a line, also after Dispose, and throws nothing.</summary>
public class DebuggerTests
{
    // Static classes have no instances, attributes no state, and exceptions describe themselves.
    public static TheoryData<Type> PublicClasses =>
    [
        .. typeof(MemoryAllocator).Assembly.GetExportedTypes()
            .Where(static type => type.IsClass && !(type.IsAbstract && type.IsSealed)
                && !typeof(Attribute).IsAssignableFrom(type)
                && !typeof(Exception).IsAssignableFrom(type)
                && !typeof(Delegate).IsAssignableFrom(type)),
    ];

    [Theory]
    [MemberData(nameof(PublicClasses))]
    public void PublicClass_InADebugger_DescribesItself(Type type)
    {
        MethodInfo describe = type.GetMethod(nameof(ToString), Type.EmptyTypes)!;

        // Of an allocator ToString reads statistics under locks, which another thread may have while a debugger holds it.
        Assert.Equal(
            typeof(MemoryAllocator).IsAssignableFrom(type) ? "{DebuggerText,nq}" : "{ToString(),nq}",
            type.GetCustomAttribute<DebuggerDisplayAttribute>(inherit: false)?.Value ?? "{ToString(),nq}");
        Assert.True(describe.DeclaringType!.Assembly == type.Assembly, $"{type} has the ToString of {describe.DeclaringType}.");
    }

    [Theory]
    [InlineData(4000, 3000, AllocationOptions.None, "PixelBuffer<Int32> 4000 × 3000, 12 blocks, outstanding")]
    [InlineData(20, 10, AllocationOptions.None, "PixelBuffer<Int32> 20 × 10, 1 block, outstanding")]
    public void ToString_OfPixels_SaysWhatTheyAre(int width, int height, AllocationOptions options, string expected)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        object described;
        using (PixelBuffer<int> pixels = allocator.AllocatePixels<int>(width, height, options))
        {
            described = pixels;
            Assert.StartsWith(expected, described.ToString());
        }

        Assert.EndsWith(", disposed", described.ToString());
    }

    [Fact]
    public void ToString_OfTracedMemory_SaysHowLongItHasBeenOutstanding()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using AllocationScope scope = MemoryDiagnostics.BeginScope();
        using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(3 << 20);

        Assert.Matches(@"^MemoryGroup<Byte> 3,145,728 elements, 1 block, outstanding \d+\.\d s$", group.ToString());
        Assert.Equal("AllocationScope: 1 of 1 allocations outstanding", scope.ToString());
    }

    [Fact]
    public void ToString_OfAnAllocator_SaysWhatItHoldsAndMayHold()
    {
        MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { Name = "scans", MaximumPoolSizeMegabytes = 64, MemoryBudgetMegabytes = 128, Safety = 0 });
        allocator.Prewarm(1);
        MemoryReservation reservation = allocator.TryReserve(8 << 20, out MemoryReservation? reserved) ? reserved : null!;
        using (allocator.Allocate<byte>(3 << 20))
        {
            Assert.Equal(
                "MemoryAllocator scans: 4 MiB outstanding, 0 MiB retained of 64 MiB, budget 128 MiB, Standard", allocator.ToString());
            Assert.Equal($"MemoryReservation of 8 MiB, 8 MiB left, from {allocator}", reservation.ToString());
        }

        reservation.Dispose();
        allocator.Dispose();
        Assert.Equal("MemoryAllocator scans: 0 MiB outstanding, 0 MiB retained of 64 MiB, budget 128 MiB, Standard", allocator.ToString());
        Assert.Equal($"MemoryReservation of 8 MiB, 0 MiB left, disposed, from {allocator}", reservation.ToString());
    }

    [Fact]
    public void ToString_OfAdapters_SaysWhatTheyAre()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        object[] described;
        List<string?> seen = [];
        using (PooledMemoryStream stream = allocator.CreateStream())
        using (NativePixels pixels = allocator.AllocatePixels<int>(20, 10, AllocationOptions.Contiguous).HandOff())
        {
            stream.Write(new byte[5000], 0, 5000);
            stream.Position = 17;
            described = [stream, pixels];
            seen.AddRange(described.Select(static value => value.ToString()));
        }

        seen.AddRange(described.Select(static value => value.ToString()));
        Assert.Equal(
            [
                "PooledMemoryStream at 17 of 5,000 bytes, capacity 8,192",
                "NativePixels 20 × 10, 80 bytes a row, outstanding",
                "PooledMemoryStream, disposed",
                "NativePixels 20 × 10, 80 bytes a row, released",
            ],
            seen);
    }

    [Fact]
    public void ToString_OfOptions_SaysWhatTheyAllow() => Assert.Equal(
        "MemoryAllocatorOptions scans: pool by default, budget 2,048 MiB, one allocation by default, Sampled",
        new MemoryAllocatorOptions { Name = "scans", MemoryBudgetMegabytes = 2048, Safety = SafetyMode.Sampled }.ToString());
}
