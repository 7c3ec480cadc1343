using System;

namespace Allocator.Lifetime;

/// <summary>How one long length is divided into members of equal length, the last one shorter where it must be. In elements.</summary>
internal readonly struct GroupLayout
{
    public GroupLayout(long totalLength, int memberLength)
    {
        TotalLength = totalLength;
        MemberLength = memberLength;
        Count = totalLength <= memberLength ? 1 : checked((int)((totalLength + memberLength - 1) / memberLength));
    }

    public long TotalLength { get; }

    public int MemberLength { get; }

    public int Count { get; }

    public int LengthOf(int member) => (int)Math.Min(MemberLength, TotalLength - (long)member * MemberLength);
}
