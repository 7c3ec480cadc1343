using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
using Allocator;
using Allocator.Diagnostics;

namespace WindowsSmoke;

/// <summary>What one allocator is put through, by public calls only.</summary>
internal sealed class Scenario(MemoryAllocator allocator)
{
    // Below, at and above the borders of the tiers: array pool, one block, beyond the pool.
    private static readonly int[] s_lengths = [1, 4096, 1 << 20, (1 << 20) + 1, 3_000_000, 4 << 20, (4 << 20) + 1, 40_000_000];

    public void Owners()
    {
        foreach (int length in s_lengths)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            Fill(owner.Memory.Span, length);
            Verify(owner.Memory.Span, length);
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
            Checks.That(!clean.Memory.Span.ContainsAnyExcept((byte)0), $"{length} zero bytes");
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
                Checks.That((nuint)pin.Pointer % (nuint)alignment == 0, $"{length} bytes aligned to {alignment}");
                Fill(owner.Memory.Span, alignment);
                Verify(owner.Memory.Span, alignment);
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
                Checks.That(!accessor.GetRowSpan(y).ContainsAnyExcept(0xFF8800u), $"row {y} as it was written");
            }
        });
    }

    public void Lease()
    {
        foreach (int length in s_lengths)
        {
            using MemoryLease<byte> lease = allocator.Rent<byte>(length);
            Fill(lease.Span, length);
            Verify(lease.Span, length);
        }
    }

    public unsafe void PinPastDispose()
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000);
        Fill(owner.Memory.Span, 5);
        MemoryHandle pin = owner.Memory.Pin();
        owner.Dispose();
        allocator.ReleaseRetainedResources();
        using (IMemoryOwner<byte> other = allocator.Allocate<byte>(3_000_000))
        {
            other.Memory.Span.Fill(0xEE);
            Verify(new Span<byte>(pin.Pointer, 3_000_000), 5);
        }

        pin.Dispose();
    }

    public void UseAfterDispose()
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(3_000_000);
        Memory<byte> memory = owner.Memory;
        owner.Dispose();
        try
        {
#pragma warning disable ALLOC002 // What is checked here is that it throws.
            memory.Span.Clear();
#pragma warning restore ALLOC002
        }
        catch (ObjectDisposedException)
        {
            return;
        }

        throw new InvalidOperationException("A disposed owner's memory could be written.");
    }

    public void Waves()
    {
        for (int wave = 0; wave < 3; wave++)
        {
            List<IMemoryOwner<byte>> owners = [];
            for (int i = 0; i < 16; i++)
            {
                IMemoryOwner<byte> owner = allocator.Allocate<byte>(4 << 20);
                Fill(owner.Memory.Span, wave + i);
                owners.Add(owner);
            }

            for (int i = 0; i < owners.Count; i++)
            {
                Verify(owners[i].Memory.Span, wave + i);
                owners[i].Dispose();
            }

            allocator.ReleaseRetainedResources();
            Checks.That(allocator.GetStatistics().CommittedBytes == 0, "no committed byte between waves");
        }
    }

    public void Abandonment()
    {
        long before = MemoryDiagnostics.AbandonedAllocations;
        Abandon();
        for (int i = 0; i < 10 && MemoryDiagnostics.AbandonedAllocations == before; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Checks.That(MemoryDiagnostics.AbandonedAllocations == before + 1, "one abandoned allocation");
    }

    public void Threads() => Parallel.For(0, 64, i =>
    {
        for (int round = 0; round < 20; round++)
        {
            int length = s_lengths[(i + round) % 6];
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
            Fill(owner.Memory.Span, i * 31 + round);
            Verify(owner.Memory.Span, i * 31 + round);
        }
    });

    public void AllGoesBack()
    {
        allocator.Prewarm(8 << 20);
        Checks.That(allocator.GetStatistics().RetainedBytes >= 8 << 20, "8 MiB retained by Prewarm");
        allocator.ReleaseRetainedResources();
        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Checks.That(statistics is { OutstandingAllocations: 0, RentedBytes: 0, RetainedBytes: 0 }, $"nothing out, nothing retained: {statistics}");

        // What was abandoned stays quarantined until the collector has proved that nobody sees it.
        Checks.That(statistics.CommittedBytes == statistics.QuarantinedBytes, $"only quarantined bytes committed: {statistics}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
#pragma warning disable ALLOC001 // Abandoned on purpose.
    private void Abandon() => allocator.Allocate<byte>(3_000_000).Memory.Span.Fill(1);
#pragma warning restore ALLOC001

    private static void VerifyGroup(MemoryGroup<int> group)
    {
        foreach (Memory<int> member in group)
        {
            Checks.That(!member.Span.ContainsAnyExcept(0), "clean members");
        }

        for (int i = 0; i < group.Count; i++)
        {
            group[i].Span.Fill(i + 1);
        }

        for (int i = 0; i < group.Count; i++)
        {
            Checks.That(!group[i].Span.ContainsAnyExcept(i + 1), $"member {i} as it was written");
        }
    }

    private static void Fill(Span<byte> span, int seed)
    {
        for (int i = 0; i < span.Length; i += 509)
        {
            span[i] = (byte)(i + seed);
        }

        span[^1] = (byte)seed;
    }

    private static void Verify(ReadOnlySpan<byte> span, int seed)
    {
        for (int i = 0; i < span.Length - 1; i += 509)
        {
            // Tested here first, or each byte would cost a formatted message.
            if (span[i] != (byte)(i + seed))
            {
                Checks.That(false, $"byte {i} of {span.Length} as it was written");
            }
        }

        Checks.That(span[^1] == (byte)seed, $"the last of {span.Length} bytes as it was written");
    }
}
