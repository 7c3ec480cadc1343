using System.Runtime.InteropServices;

namespace Fragmentation.Subjects;

/// <summary>The heap, without anything between.</summary>
internal sealed unsafe class RawSubject : MemorySubject
{
    private const nuint Alignment = 64;

    private readonly bool _isAligned;

    /// <summary>Allocates with <c>malloc</c>, or with the heap's aligned allocation.</summary>
    public RawSubject(bool isAligned) => _isAligned = isAligned;

    /// <inheritdoc/>
    public override HeldImage Allocate(int width, int height)
    {
        nint bytes = (nint)width * height * sizeof(uint);
        void* address = _isAligned ? NativeMemory.AlignedAlloc((nuint)bytes, Alignment) : NativeMemory.Alloc((nuint)bytes);
        return new RawImage(this, (nint)address, bytes);
    }

    /// <summary>Frees what was allocated at <paramref name="address"/>.</summary>
    public void Free(nint address)
    {
        if (_isAligned)
        {
            NativeMemory.AlignedFree((void*)address);
        }
        else
        {
            NativeMemory.Free((void*)address);
        }
    }

    /// <inheritdoc/>
    /// <remarks>.NET has no call for it: what the heap keeps, it keeps.</remarks>
    public override void ReleaseIdle()
    {
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
    }
}
