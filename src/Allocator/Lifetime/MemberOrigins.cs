namespace Allocator.Lifetime;

/// <summary>
/// Gives, for each member of a group, where the group would begin if all of it lay where that member does: the element e of the group, in member m, is e elements
/// behind the origin of m, so what finds a row need not know where its member begins. Members one stride apart, the usual case, take no array.
/// </summary>
internal readonly struct MemberOrigins
{
    private readonly nint[]? _each;

    /// <summary>Describes members that lie one stride apart.</summary>
    /// <param name="first">Where the first member begins.</param>
    /// <param name="gap">The bytes from the end of one member to the beginning of the next.</param>
    public MemberOrigins(nint first, nint gap)
    {
        First = first;
        Gap = gap;
    }

    /// <summary>Describes members that lie anywhere.</summary>
    public MemberOrigins(nint[] each) => _each = each;

    /// <summary>Gets whether there is one member, which its guard describes.</summary>
    public bool IsNone => First == 0 && _each is null;

    /// <summary>Gets the origin of the first member; 0 where there is an array.</summary>
    public nint First { get; }

    /// <summary>Gets the bytes between two members, where there is no array.</summary>
    public nint Gap { get; }

    public nint Of(nint member) => _each is null ? First + member * Gap : _each[member];
}
