using System;
using System.Buffers;
using System.Collections.Generic;
using Allocator;
using Measuring.Memory;

namespace AlignedAllocation.Ways;

/// <summary>The ways that are compared.</summary>
internal sealed class AllocationWays : IDisposable
{
    /// <summary>The alignment that is asked for, in bytes: a cache line, and the widest vector register.</summary>
    public const int Alignment = 64;

    private const int ArrayThreshold = 1 << 20;
    private const int BlockAlignment = 2 << 20;

    // All buffers of the alignment check are out at once; together they are a little below 1.5 GB, and next to nothing of that is touched.
    private const int PoolMegabytes = 4096;

    private readonly List<MemoryAllocator> _allocators = [];

    /// <summary>Makes the ways that the sweeps time, the one first that the others are compared with.</summary>
    public IReadOnlyList<AllocationWay> ForSweeps()
    {
        MemoryAllocator pool = Create(NativeMemoryKind.Virtual);
        return
        [
            OverAllocated(),
            NativeAligned(),
            Pages(),
            new AllocationWay<AlignedPoolMethod, IMemoryOwner<byte>>("pool, aligned", new AlignedPoolMethod(pool, Alignment), AlignedBlock(Alignment)),
            Unaligned(pool),
        ];
    }

    /// <summary>Makes the ways whose alignment is checked.</summary>
    public IReadOnlyList<AllocationWay> ForChecks()
    {
        MemoryAllocator pool = Create(NativeMemoryKind.Virtual);
        List<AllocationWay> ways =
        [
            new AllocationWay<HeapMethod, nint>("malloc (control)", default, static _ => 2 * IntPtr.Size),
            OverAllocated(),
            NativeAligned(),
            Pages(),
            Unaligned(pool),
        ];
        foreach (int alignment in (ReadOnlySpan<int>)[Alignment, Environment.SystemPageSize, BlockAlignment])
        {
            ways.Add(new AllocationWay<AlignedPoolMethod, IMemoryOwner<byte>>(
                $"pool, AllocateAligned {alignment}", new AlignedPoolMethod(pool, alignment), AlignedBlock(alignment)));
        }

        foreach (NativeMemoryKind kind in (ReadOnlySpan<NativeMemoryKind>)[NativeMemoryKind.Heap, NativeMemoryKind.HGlobal, NativeMemoryKind.CoTaskMem])
        {
            ways.Add(new AllocationWay<AlignedPoolMethod, IMemoryOwner<byte>>(
                $"pool over {kind}, AllocateAligned {Alignment}", new AlignedPoolMethod(Create(kind), Alignment), static _ => Alignment));
        }

        return ways;
    }

    /// <inheritdoc/>
    public void Dispose() => _allocators.ForEach(allocator => allocator.Dispose());

    private static AllocationWay<OverAlignedMethod, nint> OverAllocated() => new("over-allocated", default, static _ => Alignment);

    private static AllocationWay<NativeAlignedMethod, nint> NativeAligned() => new("native", default, static _ => Alignment);

    private static AllocationWay<PageMethod, nint> Pages() => new(PageMemory.CallName, default, static _ => Environment.SystemPageSize);

    private static AllocationWay<PoolMethod, IMemoryOwner<byte>> Unaligned(MemoryAllocator pool)
        => new("pool, Allocate", new PoolMethod(pool), static bytes => bytes > ArrayThreshold ? BlockAlignment : IntPtr.Size);

    private static Func<int, int> AlignedBlock(int alignment) => bytes => bytes > ArrayThreshold ? BlockAlignment : alignment;

    private MemoryAllocator Create(NativeMemoryKind kind)
    {
        MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes, NativeMemory = kind });
        _allocators.Add(allocator);
        return allocator;
    }
}
