namespace Measuring.Sources;

/// <summary>The ways to get memory that measurements compare.</summary>
public static unsafe class MemorySource
{
    /// <summary>The C library's heap, as .NET programs reach it: <c>malloc</c>, aligned to two words and no more.</summary>
    public readonly struct Heap : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new((nint)NativeMemory.Alloc((nuint)bytes));

        public void Free(HeldAddress held, int bytes) => NativeMemory.Free((void*)held.Address);
    }

    /// <summary>The heap's own aligned allocation: <c>aligned_alloc</c>, <c>_aligned_malloc</c> on Windows.</summary>
    public readonly struct AlignedHeap(int alignment) : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new((nint)NativeMemory.AlignedAlloc((nuint)bytes, (nuint)alignment));

        public void Free(HeldAddress held, int bytes) => NativeMemory.AlignedFree((void*)held.Address);
    }

    /// <summary>
    /// Alignment without help from the heap, as imaging libraries have long done it: allocate too much, move up to the boundary, and keep
    /// the heap's own address in the word below.
    /// </summary>
    public readonly struct OverAlignedHeap(int alignment) : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes)
        {
            nint allocated = (nint)NativeMemory.Alloc((nuint)(bytes + alignment + sizeof(nint)));
            nint aligned = (allocated + sizeof(nint) + alignment - 1) & -alignment;
            ((nint*)aligned)[-1] = allocated;
            return new(aligned);
        }

        public void Free(HeldAddress held, int bytes) => NativeMemory.Free((void*)((nint*)held.Address)[-1]);
    }

    public readonly struct Pages : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new(PageMemory.Allocate(bytes));

        public void Free(HeldAddress held, int bytes) => PageMemory.Free(held.Address, bytes);
    }

    public readonly struct HGlobal : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new(Marshal.AllocHGlobal(bytes));

        public void Free(HeldAddress held, int bytes) => Marshal.FreeHGlobal(held.Address);
    }

    public readonly struct CoTaskMem : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new(Marshal.AllocCoTaskMem(bytes));

        public void Free(HeldAddress held, int bytes) => Marshal.FreeCoTaskMem(held.Address);
    }

    public readonly struct Loaded(NativeAllocator library) : IMemorySource<HeldAddress>
    {
        public HeldAddress Allocate(int bytes) => new((nint)library.Allocate((nuint)bytes));

        public void Free(HeldAddress held, int bytes) => library.Free((void*)held.Address);
    }

    public readonly struct Arrays : IMemorySource<HeldArray>
    {
        public HeldArray Allocate(int bytes) => new(ArrayPool<byte>.Shared.Rent(bytes));

        public void Free(HeldArray held, int bytes) => ArrayPool<byte>.Shared.Return(held.Array);
    }

    /// <summary>The model of the classic design: one lock, and a finalizable guard a rent.</summary>
    public readonly struct ClassicOwners(ClassicAllocator allocator) : IMemorySource<HeldOwner>
    {
        public HeldOwner Allocate(int bytes) => new(allocator.Allocate<byte>(bytes));

        public void Free(HeldOwner held, int bytes) => held.Owner.Dispose();
    }

    /// <summary>This library, by the owners that it hands out: arrays up to 1 MiB, blocks of the pool above.</summary>
    public readonly struct Owners(MemoryAllocator allocator) : IMemorySource<HeldOwner>
    {
        public HeldOwner Allocate(int bytes) => new(allocator.Allocate<byte>(bytes));

        public void Free(HeldOwner held, int bytes) => held.Owner.Dispose();
    }

    /// <summary>This library, asked for an alignment: memory of the system up to 1 MiB, blocks of the pool above.</summary>
    public readonly struct AlignedOwners(MemoryAllocator allocator, int alignment) : IMemorySource<HeldOwner>
    {
        public HeldOwner Allocate(int bytes) => new(allocator.AllocateAligned<byte>(bytes, alignment));

        public void Free(HeldOwner held, int bytes) => held.Owner.Dispose();
    }
}

/// <summary>
/// Memory that a source gave. Structs, also where they hold one reference: code over references is shared, and not compiled for each.
/// </summary>
public interface IHeldBytes
{
    /// <summary>Returns the first <paramref name="count"/> bytes, which is how many were asked for.</summary>
    Span<byte> GetBytes(int count);
}

/// <summary>Memory by its address.</summary>
public readonly unsafe record struct HeldAddress(nint Address) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => new((void*)Address, count);
}

/// <summary>An array of a pool.</summary>
public readonly record struct HeldArray(byte[] Array) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => Array.AsSpan(0, count);
}

/// <summary>A buffer of this library.</summary>
public readonly record struct HeldOwner(IMemoryOwner<byte> Owner) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => Owner.Memory.Span[..count];
}

/// <summary>
/// A way to get memory. Implemented by structs, so that a loop is compiled for each of them, without calls between. All of them are safe
/// for many threads.
/// </summary>
public interface IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    THeld Allocate(int bytes);

    void Free(THeld held, int bytes);
}
