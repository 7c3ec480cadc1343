using System.Runtime.InteropServices;

namespace Allocator.Lifetime;

/// <summary>What was rented and returned of managed arrays. Padded to two cache lines, so that threads do not slow each other down by counting.</summary>
[StructLayout(LayoutKind.Sequential, Size = 128)]
internal struct ArrayCounts
{
    public long Rents;
    public long Returns;
    public long RentedBytes;
    public long ReturnedBytes;
}
