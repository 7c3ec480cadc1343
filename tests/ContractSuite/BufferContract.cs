using Allocator;

namespace ContractSuite;

/// <summary>Buffers, groups, pixels and leases of one allocator hold what is written to them.</summary>
internal sealed class BufferContract(MemoryAllocator allocator)
{
    // Below, at and above the borders of the tiers: array pool, one block, beyond the pool.
    private static readonly int[] s_lengths = [1, 4096, 1 << 20, (1 << 20) + 1, 3_000_000, 4 << 20, (4 << 20) + 1, 40_000_000];

    public void Owners()
    {
        foreach (int length in s_lengths)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            Checks.That(owner.Memory.Length == length, $"{length} bytes");
            Pattern.Fill(owner.Memory.Span, length);
            Pattern.Verify(owner.Memory.Span, length);
        }
    }

    public void CleanOwners()
    {
        foreach (int length in s_lengths)
        {
            using (IMemoryOwner<byte> dirty = allocator.Allocate<byte>(length))
            {
                dirty.Memory.Span.Fill(0xFF);
            }

            using IMemoryOwner<byte> clean = allocator.Allocate<byte>(length, AllocationOptions.Clean);
            Checks.That(Pattern.IsAll<byte>(clean.Memory.Span, 0), $"{length} zero bytes");
        }
    }

    public unsafe void AlignedOwners()
    {
        foreach (int alignment in new[] { 64, 4096, 65536, 2 << 20 })
        {
            foreach (int length in new[] { 100, 3_000_000, 9_000_000 })
            {
                using IMemoryOwner<byte> owner = allocator.AllocateAligned<byte>(length, alignment);
                using MemoryHandle pin = owner.Memory.Pin();
                Checks.That((ulong)pin.Pointer % (ulong)alignment == 0, $"{length} bytes aligned to {alignment}");
                Pattern.Fill(owner.Memory.Span, alignment);
                Pattern.Verify(owner.Memory.Span, alignment);
            }
        }
    }

    public void Group()
    {
        using MemoryGroup<int> group = allocator.AllocateGroup<int>(7_000_000, 1000, AllocationOptions.Clean);
        VerifyGroup(group);
    }

    public void ContiguousGroup()
    {
        using MemoryGroup<int> group = allocator.AllocateGroup<int>(5_000_000, 1, AllocationOptions.Contiguous | AllocationOptions.Clean);
        Checks.That(group.IsContiguous && group.Count == 1, "one contiguous member");
        VerifyGroup(group);
    }

    public void Pixels()
    {
        using PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(3000, 2000);
        pixels.ProcessPixelRowsInParallel(static accessor =>
        {
            for (int y = 0; y < accessor.Height; y++)
            {
                accessor.GetRowSpan(y).Fill(0xFF8800);
            }
        });
        using PixelBuffer<uint> copy = pixels.Clone();
        copy.ProcessPixelRows(static accessor =>
        {
            for (int y = 0; y < accessor.Height; y++)
            {
                Checks.That(Pattern.IsAll<uint>(accessor.GetRowSpan(y), 0xFF8800), $"row {y} as it was written");
            }
        });
        copy.ProcessPixelRows(pixels, static (from, to) =>
        {
            for (int y = 0; y < from.Height; y++)
            {
                from.GetRowSpan(y).Fill((uint)y);
                from.GetRowSpan(y).CopyTo(to.GetRowSpan(y));
            }
        });
        for (int y = 0; y < pixels.Height; y++)
        {
            Checks.That(Pattern.IsAll<uint>(pixels.DangerousGetRowSpan(y), (uint)y), $"row {y} as it was copied");
        }
    }

    public void Leases()
    {
        foreach (int length in s_lengths)
        {
            using MemoryLease<byte> lease = allocator.Rent<byte>(length);
            Checks.That(lease.Length == length, $"{length} bytes");
            Pattern.Fill(lease.Span, length);
            Pattern.Verify(lease.Span, length);
        }
    }

    public void Threads() => Parallel.For(0, 64, i =>
    {
        for (int round = 0; round < 20; round++)
        {
            int length = s_lengths[(i + round) % 6];
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            Pattern.Fill(owner.Memory.Span, i * 31 + round);
            Pattern.Verify(owner.Memory.Span, i * 31 + round);
        }
    });

    private static void VerifyGroup([Borrowed] MemoryGroup<int> group)
    {
        foreach (Memory<int> member in group)
        {
            Checks.That(Pattern.IsAll<int>(member.Span, 0), "clean members");
        }

        for (int i = 0; i < group.Count; i++)
        {
            group[i].Span.Fill(i + 1);
        }

        for (int i = 0; i < group.Count; i++)
        {
            Checks.That(Pattern.IsAll<int>(group[i].Span, i + 1), $"member {i} as it was written");
        }
    }
}
