using System.Runtime.InteropServices;

namespace Allocator.Benchmarks.Contenders;

/// <summary><c>NativeMemory</c>: the heap of the C library, by <c>malloc</c> and <c>free</c>.</summary>
internal sealed unsafe class HeapBlocks : Contender
{
    /// <inheritdoc/>
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            void* memory = NativeMemory.Alloc(BlockSizeInBytes);
            Work.On((nint)memory);
            NativeMemory.Free(memory);
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        for (int i = 0; i < count; i += Four)
        {
            void* first = NativeMemory.Alloc(BlockSizeInBytes);
            Work.On((nint)first);
            void* second = NativeMemory.Alloc(BlockSizeInBytes);
            Work.On((nint)second);
            void* third = NativeMemory.Alloc(BlockSizeInBytes);
            Work.On((nint)third);
            void* fourth = NativeMemory.Alloc(BlockSizeInBytes);
            Work.On((nint)fourth);
            NativeMemory.Free(fourth);
            NativeMemory.Free(third);
            NativeMemory.Free(second);
            NativeMemory.Free(first);
        }
    }
}
