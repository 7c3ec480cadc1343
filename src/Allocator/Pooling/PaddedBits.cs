using System.Runtime.InteropServices;

namespace Allocator.Pooling;

/// <summary>64 bits, one for each block of an arena, on cache lines of their own.</summary>
[StructLayout(LayoutKind.Explicit, Size = 256)]
internal struct PaddedBits
{
    [FieldOffset(128)]
    public long Value;
}
