using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Allocator;
using Measuring.Sources;

namespace Measurements.Copies;

/// <summary>The kinds of memory that are compared, the first of which the others are compared with.</summary>
internal enum CopyKind
{
    HGlobal,
    CoTaskMem,
    AlignedHeap,

    /// <summary>This library without a pool: a mapping for each page.</summary>
    Virtual,

    /// <summary>This library's pool.</summary>
    Pool,
}

/// <summary>What tables call the kinds of memory.</summary>
internal static class CopyKinds
{
    public static IReadOnlyList<string> Names { get; } = ["HGlobal", "CoTaskMem", "aligned heap", "virtual", "pool"];
}

/// <summary>Memory for one page of paper: A4 at 300 dots an inch, in colour.</summary>
/// <param name="Address">Where it begins.</param>
/// <param name="Free">Frees it.</param>
internal sealed record PageBuffer(nint Address, Action Free)
{
    public const int Width = 2480;
    public const int Height = 3508;
    public const int SizeInBytes = Width * Height * 3;

    public unsafe Span<byte> Span => new((void*)Address, SizeInBytes);
}

/// <summary>A way of getting unmanaged memory for a page.</summary>
internal abstract class PageSource
{
    // A cache line, and what the widest vector loads want.
    private const int Alignment = 64;

    // Source and destination are 7 blocks of 4 MiB each, and 2 more.
    private const int PoolMegabytes = 64;

    /// <summary>Makes the one that <paramref name="kind"/> names. It is used until the process ends.</summary>
    public static PageSource Create(CopyKind kind) => kind switch
    {
        CopyKind.HGlobal => new Of<MemorySource.HGlobal, HeldAddress>(default),
        CopyKind.CoTaskMem => new Of<MemorySource.CoTaskMem, HeldAddress>(default),
        CopyKind.AlignedHeap => new Of<MemorySource.AlignedHeap, HeldAddress>(new(Alignment)),
        CopyKind.Virtual => OfLibrary(new() { MaximumPoolSizeMegabytes = 0, NativeMemory = NativeMemoryKind.Virtual }),
        CopyKind.Pool => OfLibrary(new() { MaximumPoolSizeMegabytes = PoolMegabytes }),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    public abstract PageBuffer Allocate();

    /// <summary>Allocates a page and frees it, <paramref name="count"/> times, without a virtual call in between.</summary>
    public abstract void AllocateAndFree(int count);

    private static Of<MemorySource.Owners, HeldOwner> OfLibrary(MemoryAllocatorOptions options)
        => new(new MemorySource.Owners(MemoryAllocator.Create(options)));

    private sealed class Of<TSource, THeld>(TSource source) : PageSource
        where TSource : struct, IMemorySource<THeld>
        where THeld : struct, IHeldBytes
    {
        private readonly TSource _source = source;

        // All of these kinds are unmanaged at this size, and do not move.
        public override unsafe PageBuffer Allocate()
        {
            THeld held = _source.Allocate(PageBuffer.SizeInBytes);
            nint address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(held.GetBytes(PageBuffer.SizeInBytes)));
            return new PageBuffer(address, () => _source.Free(held, PageBuffer.SizeInBytes));
        }

        public override void AllocateAndFree(int count)
        {
            TSource source = _source;
            for (int i = 0; i < count; i++)
            {
                source.Free(source.Allocate(PageBuffer.SizeInBytes), PageBuffer.SizeInBytes);
            }
        }
    }
}
