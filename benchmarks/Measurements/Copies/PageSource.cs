namespace Measurements.Copies;

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

    /// <summary>
    /// Gets the kinds of memory that are compared, the first of which the others are compared with: of the heap, of this library without a
    /// pool, which makes a mapping for each page, and of its pool.
    /// </summary>
    public static IReadOnlyList<(string Name, Func<PageSource> Create)> Kinds { get; } =
    [
        ("HGlobal", () => new Of<MemorySource.HGlobal, HeldAddress>(default)),
        ("CoTaskMem", () => new Of<MemorySource.CoTaskMem, HeldAddress>(default)),
        ("aligned heap", () => new Of<MemorySource.AlignedHeap, HeldAddress>(new(Alignment))),
        ("virtual", () => OfLibrary(new() { MaximumPoolSizeMegabytes = 0, NativeMemory = NativeMemoryKind.Virtual })),
        ("pool", () => OfLibrary(new() { MaximumPoolSizeMegabytes = PoolMegabytes })),
    ];

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

/// <summary>The copies. Those by an array allocate it, as code does that has no other way.</summary>
internal static unsafe class PageCopies
{
    /// <summary>Copies <paramref name="length"/> bytes.</summary>
    public delegate void Copy(byte* source, byte* destination, int length);

    /// <summary>Gets all of them, in the order of the tables.</summary>
    public static IReadOnlyList<(string Name, Copy Copy)> All { get; } =
    [
        ("byte loop", ByteLoop),
        ("Marshal.Copy by array", MarshalCopy),
        ("stream by array", StreamByArray),
        ("stream CopyTo", StreamCopyTo),
        ("Buffer.MemoryCopy", MemoryCopy),
        ("span CopyTo", SpanCopy),
    ];

    private static void ByteLoop(byte* source, byte* destination, int length)
    {
        for (int i = 0; i < length; i++)
        {
            destination[i] = source[i];
        }
    }

    private static void MarshalCopy(byte* source, byte* destination, int length)
    {
        byte[] array = new byte[length];
        Marshal.Copy((nint)source, array, 0, length);
        Marshal.Copy(array, 0, (nint)destination, length);
    }

    private static void StreamByArray(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        byte[] array = new byte[length];
        input.ReadExactly(array, 0, length);
        output.Write(array, 0, length);
    }

    private static void StreamCopyTo(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        input.CopyTo(output);
    }

    private static void MemoryCopy(byte* source, byte* destination, int length) => Buffer.MemoryCopy(source, destination, length, length);

    private static void SpanCopy(byte* source, byte* destination, int length)
        => new ReadOnlySpan<byte>(source, length).CopyTo(new Span<byte>(destination, length));
}
