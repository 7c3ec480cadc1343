namespace Allocator.Tests.Families;

/// <summary><see cref="MemoryAllocator.AsMemoryPool{T}"/> as <see cref="MemoryPool{T}.Shared"/>.</summary>
public class MemoryPoolFamilyTests
{
    private static readonly Dictionary<string, Func<MemoryPool<int>, object?>> s_demands = new()
    {
        ["Rent, no size"] = static p => Of(p.Rent(), static o => o.Memory.Length),
        ["Rent, -1"] = static p => Of(p.Rent(-1), static o => o.Memory.Length),
        ["Rent, 0"] = static p => Of(p.Rent(0), static o => (o.Memory.Length, o.Memory.Span.IsEmpty, o.Memory.IsEmpty)),
        ["Rent, many sizes"] = static p =>
            string.Join(", ", Enumerable.Range(0, 40).Select(i => Of(p.Rent(i * i), o => o.Memory.Length >= i * i))),
        ["Rent, -2"] = static p => p.Rent(-2),
        ["Rent, least"] = static p => p.Rent(int.MinValue),
        ["MaxBufferSize"] = static p => p.MaxBufferSize > 100_000_000,
        ["Memory, all of it"] = static p => Of(p.Rent(1000), static o => { o.Memory.Span.Fill(7); return o.Memory.Span[999]; }),
        ["Memory, is the same"] = static p => Of(p.Rent(1000), static o => o.Memory.Equals(o.Memory)),
        ["Memory, after Dispose"] = static p => Of(p.Rent(1000), static o => { o.Dispose(); return o.Memory.Length; }),
        ["Memory of 0, after Dispose"] = static p => Of(p.Rent(0), static o => { o.Dispose(); return o.Memory.Length; }),
        ["Dispose, twice"] = static p => Of(p.Rent(1000), static o => { o.Dispose(); o.Dispose(); return null; }),
        ["Dispose, pinned"] = static p => Of(p.Rent(1000), static o =>
        {
            using MemoryHandle pin = o.Memory.Pin();
            o.Dispose();
            return null;
        }),
        ["Slice, beyond"] = static p => Of(p.Rent(0), static o => o.Memory.Slice(1).Length),
        ["Pin"] = static p => Of(p.Rent(1000), static o => FirstOf(o.Memory.Pin(), o.Memory)),
        ["Pin, a slice"] = static p => Of(p.Rent(1000), static o => FirstOf(o.Memory.Slice(500).Pin(), o.Memory.Slice(500))),
        ["Pin, behind the last"] = static p => Of(p.Rent(1000), static o => { o.Memory.Slice(1000).Pin().Dispose(); return null; }),
        ["Pin, twice"] = static p => Of(p.Rent(1000), static o =>
        {
            MemoryHandle first = o.Memory.Pin();
            MemoryHandle second = o.Memory.Pin();
            first.Dispose();
            return FirstOf(second, o.Memory);
        }),
        ["Unpin, twice"] = static p => Of(p.Rent(1000), static o =>
        {
            MemoryHandle pin = o.Memory.Pin();
            pin.Dispose();
            pin.Dispose();
            o.Memory.Span.Clear();
            return null;
        }),
        ["Many at once, are apart"] = static p =>
        {
            IMemoryOwner<int>[] owners = [.. Enumerable.Range(0, 50).Select(_ => p.Rent(300))];
            for (int i = 0; i < owners.Length; i++)
            {
                owners[i].Memory.Span.Fill(i);
            }

            bool apart = owners.Select(static (o, i) => o.Memory.Span.IndexOfAnyExcept(i) < 0 || o.Memory.Length > 300).All(static x => x);
            Array.ForEach(owners, static o => o.Dispose());
            return apart;
        },
        ["Many threads"] = static p => Parallel.For(0, 2000, i => Of(p.Rent(i), o => { o.Memory.Span.Fill(i); return null; })).IsCompleted,
        ["Owner, outlives the pool's Dispose"] = static p =>
        {
            using IMemoryOwner<int> owner = p.Rent(100);
            p.Dispose();
            owner.Memory.Span.Fill(3);
            return owner.Memory.Span[99];
        },
        ["Dispose of the pool, twice"] = static p => { p.Dispose(); p.Dispose(); return null; },
    };

    public static TheoryData<string> Demands => [.. s_demands.Keys];

    [Theory]
    [MemberData(nameof(Demands))]
    public void EachRequirement_ComparedWithTheSharedPool_IsMet(string demand)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using MemoryAllocator budgeted = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 1000 });
        foreach (MemoryAllocator each in (MemoryAllocator[])[allocator, budgeted])
        {
            using MemoryPool<int> ours = each.AsMemoryPool<int>();
            string expected = Outcome.Of(() => s_demands[demand](MemoryPool<int>.Shared));
            string actual = Outcome.Of(() => s_demands[demand](ours));

            // The abstract class calls it so; the shared pool has another name for it.
            Assert.Equal(expected.Replace("minimumBufferSize", "minBufferSize", StringComparison.Ordinal), actual);
            Assert.Equal(0, each.GetStatistics().OutstandingAllocations);
        }
    }

    [Fact]
    public void Rent_NoSizeForElementsOfAnySize_IsAsLongAsTheSharedPools()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Compare<byte>(allocator);
        Compare<ushort>(allocator);
        Compare<decimal>(allocator);
        Compare<Kilobytes>(allocator);

        static void Compare<T>(MemoryAllocator allocator)
            where T : struct
        {
            using MemoryPool<T> pool = allocator.AsMemoryPool<T>();
            using IMemoryOwner<T> expected = MemoryPool<T>.Shared.Rent();
            using IMemoryOwner<T> actual = pool.Rent();
            Assert.InRange(actual.Memory.Length, 1, expected.Memory.Length);
            Assert.InRange(actual.Memory.Length * Unsafe.SizeOf<T>(), Math.Min(4096, Unsafe.SizeOf<T>()), 8192);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1000)]
    [InlineData(TestSetup.ArrayThreshold)]
    public void TryGetArray_MemoryIsAnArray_IsThatArray(int length)
    {
        foreach (long? budget in (long?[])[null, 1 << 20])
        {
            using TestSetup setup = new(budget: budget);
            using MemoryPool<byte> pool = setup.Allocator.AsMemoryPool<byte>();
            using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(length);
            using PixelBuffer<byte> pixels = setup.Allocator.AllocatePixels<byte>(Math.Max(1, length), 1);
            using IMemoryOwner<byte> rented = pool.Rent(length);
            pixels.DangerousTryGetSingleMemory(out Memory<byte> row);
            foreach (Memory<byte> memory in (Memory<byte>[])[rented.Memory, group[0], row.Slice(0, length)])
            {
                memory.Span.Fill(5);
                Assert.True(MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> array));
                Assert.Equal(length, array.Count);
                Assert.True(length == 0 || Unsafe.AreSame(ref memory.Span[0], ref array.AsSpan()[0]));
            }
        }
    }

    [Fact]
    public void TryGetArray_OfWrappedMemory_IsTheCallersArray()
    {
        using TestSetup setup = new();
        int[] array = new int[100];
        using MemoryGroup<int> group = setup.Allocator.WrapGroup(array.AsMemory(10, 50));
        Assert.True(MemoryMarshal.TryGetArray(group[0].Slice(5), out ArraySegment<int> segment));
        Assert.Same(array, segment.Array);
        Assert.Equal((15, 45), (segment.Offset, segment.Count));
        group.Dispose();
        Assert.Throws<ObjectDisposedException>(() => group[0]);
    }

    [Fact]
    public void TryGetArray_NoArrayOrDisposed_IsFalseOrThrows()
    {
        using TestSetup setup = new();
        using IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        using IMemoryOwner<int> others = setup.Allocator.Allocate<int>(10);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);
        Assert.False(MemoryMarshal.TryGetArray<byte>(block.Memory, out _));
        Assert.False(MemoryMarshal.TryGetArray<byte>(group[1], out _));
        Assert.False(MemoryMarshal.TryGetArray<int>(others.Memory, out _));

        MemoryGroup<byte> small = setup.Allocator.AllocateGroup<byte>(100);
        Memory<byte> member = small[0];
        small.Dispose();
        Assert.Throws<ObjectDisposedException>(() => MemoryMarshal.TryGetArray<byte>(member, out _));
    }

    [Fact]
    public void Rent_AboveTheBudget_IsRefusedAndReturnedMemoryIsReused()
    {
        using TestSetup setup = new(budget: 2 * TestSetup.BlockSize);
        using MemoryPool<byte> pool = setup.Allocator.AsMemoryPool<byte>();
        Assert.False(Assert.Throws<MemoryLimitExceededException>(() => pool.Rent(3 * TestSetup.BlockSize)).IsTransient);
        IMemoryOwner<byte> all = pool.Rent(2 * TestSetup.BlockSize);
        Assert.True(Assert.Throws<MemoryLimitExceededException>(() => pool.Rent(100)).IsTransient);
        Assert.Equal(2 * TestSetup.BlockSize, setup.Statistics.BudgetUsedBytes);
        all.Dispose();
        pool.Rent(100).Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    private static object? Of(IMemoryOwner<int> owner, Func<IMemoryOwner<int>, object?> look)
    {
        using (owner)
        {
            return look(owner);
        }
    }

    private static unsafe bool FirstOf(MemoryHandle pin, Memory<int> memory)
    {
        using (pin)
        {
            memory.Span[0] = 77;
            return *(int*)pin.Pointer == 77;
        }
    }

    [InlineArray(5 * 1024)]
    private struct Kilobytes
    {
        private byte _first;
    }
}
