using System.Runtime.InteropServices;
using System.Threading;

namespace Allocator.Lifetime;

/// <summary>
/// What was rented and returned of managed arrays. Padded to two cache lines, so that threads do not slow each other down by counting.
/// </summary>
[StructLayout(LayoutKind.Sequential, Size = 128)]
internal struct ArrayCounts
{
    public long Rents;
    public long Returns;
    public long RentedBytes;
    public long ReturnedBytes;

    /// <summary>Adds the rents, read as another thread may write them.</summary>
    public void AddRentsTo(ref ArrayCounts sum)
    {
        sum.Rents += Volatile.Read(ref Rents);
        sum.RentedBytes += Volatile.Read(ref RentedBytes);
    }

    /// <summary>Adds the returns, read as another thread may write them.</summary>
    public void AddReturnsTo(ref ArrayCounts sum)
    {
        sum.Returns += Volatile.Read(ref Returns);
        sum.ReturnedBytes += Volatile.Read(ref ReturnedBytes);
    }
}
