using System;

namespace Allocator.Lifetime;

/// <summary>How one long length is divided into members of equal length, the last one shorter where it must be. In elements.</summary>
internal readonly record struct GroupLayout(long TotalLength, int MemberLength)
{
    public int Count => TotalLength == 0 ? 1 : checked((int)((TotalLength + MemberLength - 1) / MemberLength));

    public int LengthOf(int member) => (int)Math.Min(MemberLength, TotalLength - (long)member * MemberLength);
}
