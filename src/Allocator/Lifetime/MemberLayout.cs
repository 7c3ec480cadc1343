using System;
using System.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// How one long length is divided into members of equal length, the last one shorter where it must be, and where these lie. Lengths are
/// in elements.
/// </summary>
/// <remarks>
/// The origin of a member is where the whole would begin if all of it lay where that member does: the element e of the whole, in member
/// m, is e elements behind the origin of m, so what finds a row need not know where its member begins. Members one stride apart, the
/// usual case, take no array.
/// </remarks>
internal struct MemberLayout
{
    public MemberLayout(long totalLength, int memberLength, bool isContiguous = false)
    {
        Debug.Assert(totalLength >= 0 && memberLength >= 0);
        TotalLength = totalLength;
        MemberLength = memberLength;
        Count = totalLength <= memberLength ? 1 : checked((int)((totalLength + memberLength - 1) / memberLength));
        IsContiguous = isContiguous || Count == 1;
    }

    public long TotalLength { get; }

    /// <summary>Gets the length of each member but the last.</summary>
    public int MemberLength { get; }

    public int Count { get; }

    /// <summary>Gets whether the members lie one after the other without gap, because that was asked for.</summary>
    public bool IsContiguous { get; }

    /// <summary>
    /// Gets the origin of the first member; 0 where there is an array of origins, or one member, which its guard describes.
    /// </summary>
    public nint First { readonly get; private set; }

    /// <summary>Gets the bytes from the end of one member to the beginning of the next, where these are the same for all.</summary>
    public nint Gap { readonly get; private set; }

    /// <summary>Gets the origin of each member, where the gaps differ.</summary>
    public nint[]? Origins { readonly get; private set; }

    /// <summary>Gets whether there is one member, which its guard describes.</summary>
    public readonly bool IsSingle => First == 0 && Origins is null;

    /// <summary>Divides contiguous memory: into one member, unless that were longer than a span can be.</summary>
    /// <param name="totalLength">The length of the whole.</param>
    /// <param name="elementAlignment">The elements that no member divides.</param>
    /// <param name="address">Where it begins; 0 where that is not known yet.</param>
    public static MemberLayout Contiguous(long totalLength, int elementAlignment, nint address = 0)
    {
        if (totalLength <= int.MaxValue)
        {
            return new MemberLayout(totalLength, (int)totalLength, isContiguous: true);
        }

        int memberLength = int.MaxValue / elementAlignment * elementAlignment;
        return new MemberLayout(totalLength, memberLength, isContiguous: true) { First = address };
    }

    /// <summary>Notes where the members lie: several, one stride apart.</summary>
    public void Place(nint first, nint gap)
    {
        Debug.Assert(Count > 1, "One member is described by its guard.");
        First = first;
        Gap = gap;
    }

    /// <summary>Notes where the members lie: anywhere.</summary>
    public void Place(nint[] origins) => Origins = origins;

    public readonly int LengthOf(int member) => (int)Math.Min(MemberLength, TotalLength - (long)member * MemberLength);

    public readonly nint OriginOf(nint member) => Origins is null ? First + member * Gap : Origins[member];
}
