using System.Numerics;

namespace Allocator.Lifetime;

/// <summary>What a user holds. Created before its memory is rented, because afterwards there might be no managed memory for it.</summary>
internal interface IRented
{
    /// <summary>Takes memory whose rent has begun. Called once; never throws.</summary>
    void Begin(in Allocation allocation);
}

/// <summary>
/// The memory of one request: its guards in order, the generation that the user keeps, and the places of its members. One thread fills it
/// before the rent begins.
/// </summary>
internal struct Allocation
{
    /// <summary>The division of the length, and the places of the members.</summary>
    public MemberLayout Layout;

    private FinalizableGuard? _last;

    /// <summary>Describes memory whose rent has begun.</summary>
    public Allocation(LifetimeGuard guard, long generation, in MemberLayout layout)
    {
        Guard = guard;
        Generation = generation;
        Layout = layout;
    }

    /// <summary>Begins the rent of contiguous memory that the caller owns.</summary>
    public static Allocation OfCaller(LifetimeGuard guard, long totalLength, int elementAlignment)
    {
        int memberLength = MemberLayout.LongestMember(totalLength, elementAlignment);
        int count = MemberLayout.CountOf(totalLength, memberLength);
        Allocation allocation = new(guard, guard.Begin(), new MemberLayout(totalLength, memberLength, count, isContiguous: true));
        if (count > 1)
        {
            allocation.Layout.Place(guard.Address, gap: 0);
        }

        return allocation;
    }

    /// <summary>Gets the first guard, whose state is that of all; null until there is one.</summary>
    public LifetimeGuard? Guard { readonly get; private set; }

    public long Generation { readonly get; private set; }

    /// <summary>Gets the first guard if <see cref="Add"/> added it; otherwise null.</summary>
    public readonly FinalizableGuard? First => Guard as FinalizableGuard;

    public readonly bool EndsWithMapping => _last is MappingGuard;

    /// <summary>Adds a guard behind the others. Its rent has not begun.</summary>
    public void Add(FinalizableGuard guard)
    {
        Debug.Assert(Generation == 0, "Filled before the rent begins.");
        _last?.Append(guard);
        _last = guard;
        Guard ??= guard;
    }

    /// <summary>Begins the rent of all guards. If this throws, nothing has changed.</summary>
    public void Begin()
    {
        Debug.Assert(First is not null && Layout.Count > 0, "There is nothing to begin.");
        Generation = First!.BeginAllocation();
    }
}

/// <summary>
/// The division of one long length into members of equal length, and their places in memory. The last may be shorter. Lengths are in
/// elements.
/// </summary>
/// <remarks>
/// The origin of a member is the address at which the whole would begin if all of it lay in line with that member: element e of the whole,
/// if it is in member m, lies e elements behind the origin of m. So a row is found without knowing the start of its member. Members one
/// stride apart, the usual case, need no array of origins.
/// </remarks>
internal struct MemberLayout
{
    public MemberLayout(long totalLength, int memberLength, int count, bool isContiguous)
    {
        Debug.Assert(count == CountOf(totalLength, memberLength));
        TotalLength = totalLength;
        MemberLength = memberLength;
        Count = count;
        IsContiguous = isContiguous || count == 1;
    }

    public long TotalLength { get; }

    /// <summary>Gets the length of each member but the last.</summary>
    public int MemberLength { get; }

    public int Count { get; }

    /// <summary>Gets whether the members follow each other without a gap, because that was requested.</summary>
    public bool IsContiguous { get; }

    /// <summary>Gets the origin of the first member; 0 if there is an array of origins, or only one member.</summary>
    public nint First { readonly get; private set; }

    /// <summary>Gets the bytes from the end of one member to the beginning of the next, if they are the same for all.</summary>
    public nint Gap { readonly get; private set; }

    /// <summary>Gets the origin of each member if the gaps differ; otherwise null.</summary>
    public nint[]? Origins { readonly get; private set; }

    /// <summary>Gets whether there is only one member. Its guard describes it.</summary>
    public readonly bool IsSingle => First == 0 && Origins is null;

    /// <summary>Returns the longest member of contiguous memory: all of it, unless a span cannot be that long.</summary>
    public static int LongestMember(long totalLength, int elementAlignment) =>
        totalLength <= int.MaxValue ? (int)totalLength : int.MaxValue / elementAlignment * elementAlignment;

    public static int CountOf(long totalLength, int memberLength)
    {
        Debug.Assert(totalLength >= 0 && memberLength >= 0);
        return totalLength <= memberLength ? 1 : checked((int)((totalLength + memberLength - 1) / memberLength));
    }

    /// <summary>Notes the places of several members, one stride apart.</summary>
    public void Place(nint first, nint gap)
    {
        Debug.Assert(Count > 1, "One member is described by its guard.");
        First = first;
        Gap = gap;
    }

    /// <summary>Notes the places of members, which may lie anywhere.</summary>
    public void Place(nint[] origins) => Origins = origins;

    /// <summary>Returns the same members in elements of another size. The lengths are whole numbers of them.</summary>
    public readonly MemberLayout Scale(int fromSize, int size) =>
        new(TotalLength * fromSize / size, (int)((long)MemberLength * fromSize / size), Count, isContiguous: false)
        {
            First = First,
            Gap = Gap,
            Origins = Origins,
        };

    public readonly int LengthOf(int member) => (int)Math.Min(MemberLength, TotalLength - (long)member * MemberLength);

    public readonly nint OriginOf(nint member) => Origins is null ? First + member * Gap : Origins[member];
}

/// <summary>
/// Finds the member of a row, by a multiplication in place of a division. With m = ceil(2^(31+s) / d) and s = ceil(log2 d), y·m / 2^(31+s)
/// rounds down to y / d for every y below 2^31: the error, y/2^(31+s), stays below 1/d.
/// </summary>
internal readonly struct RowMap
{
    private readonly ulong _multiplier;
    private readonly int _shift;
    private readonly int _rowsPerMember;

    public RowMap(int rowsPerMember)
    {
        Debug.Assert(rowsPerMember >= 1);
        _rowsPerMember = rowsPerMember;
        int s = 32 - (BitOperations.LeadingZeroCount((ulong)rowsPerMember - 1) - 32);
        _shift = 31 + s;
        _multiplier = ((1UL << _shift) + (uint)rowsPerMember - 1) / (uint)rowsPerMember;
    }

    /// <summary>Gets whether there is no map: all rows lie in one run of memory.</summary>
    public bool IsEmpty => _rowsPerMember == 0;

    /// <summary>Returns the first row behind the member of a row.</summary>
    public long EndOfMember(int y) => (Find(y) + 1L) * _rowsPerMember;

    /// <summary>Returns the member of a row, which is not negative; 0 for all rows if there is no map.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public nint Find(int y) => (nint)((uint)y * _multiplier >> _shift);
}
