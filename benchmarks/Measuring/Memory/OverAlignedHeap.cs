using System.Runtime.InteropServices;

namespace Measuring.Memory;

/// <summary>
/// Alignment without help from the heap, as imaging libraries have long done it: allocate too much, move up to the boundary,
/// and keep the heap's own address in the word below.
/// </summary>
public static unsafe class OverAlignedHeap
{
    /// <summary>Allocates <paramref name="bytes"/> bytes that begin on a multiple of <paramref name="alignment"/>, a power of two.</summary>
    public static nint Allocate(nint bytes, nint alignment)
    {
        nint allocated = (nint)NativeMemory.Alloc((nuint)(bytes + alignment + sizeof(nint)));
        nint aligned = (allocated + sizeof(nint) + alignment - 1) & -alignment;
        ((nint*)aligned)[-1] = allocated;
        return aligned;
    }

    /// <summary>Frees what <see cref="Allocate"/> returned.</summary>
    public static void Free(nint aligned) => NativeMemory.Free((void*)((nint*)aligned)[-1]);
}
