using System;

namespace A4Copy.Buffers;

/// <summary>A way of getting unmanaged memory for a page.</summary>
internal abstract class BufferSource
{
    /// <summary>Makes the one that <paramref name="kind"/> names. It is used until the process ends.</summary>
    public static BufferSource Create(MemoryKind kind) => kind switch
    {
        MemoryKind.HGlobal => new HGlobalSource(),
        MemoryKind.CoTaskMem => new CoTaskMemSource(),
        MemoryKind.AlignedHeap => new AlignedHeapSource(),
        MemoryKind.Virtual => AllocatorSource.CreateVirtual(),
        MemoryKind.Pool => AllocatorSource.CreatePool(),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    /// <summary>Returns the heading of <paramref name="kind"/>.</summary>
    public static string Name(MemoryKind kind) => kind switch
    {
        MemoryKind.AlignedHeap => "aligned heap",
        MemoryKind.Virtual => "virtual",
        MemoryKind.Pool => "pool",
        _ => kind.ToString(),
    };

    /// <summary>Allocates a page, contents unspecified, which the caller gives to <see cref="Free"/>.</summary>
    public abstract PageBuffer Allocate();

    /// <summary>Frees what <see cref="Allocate"/> returned.</summary>
    public abstract void Free(in PageBuffer buffer);

    /// <summary>Allocates a page and frees it, <paramref name="count"/> times, without a virtual call in between.</summary>
    public abstract void AllocateAndFree(int count);
}
