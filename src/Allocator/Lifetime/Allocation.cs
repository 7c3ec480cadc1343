using Allocator.Budgeting;

namespace Allocator.Lifetime;

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

    /// <summary>Gets the generation of the rent, once it has begun.</summary>
    public long Generation { readonly get; private set; }

    /// <summary>Gets the first guard if <see cref="Add"/> added it; otherwise null.</summary>
    public readonly FinalizableGuard? First => Guard as FinalizableGuard;

    /// <summary>Gets whether the last guard is that of a mapping from the system.</summary>
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

    /// <summary>Notes the account that the rent is charged to, as <see cref="FinalizableGuard.Charge"/> does.</summary>
    public readonly void Charge(in BudgetPermit permit) => First!.Charge(permit);

    /// <summary>Returns the memory although no rent began.</summary>
    public readonly void Cancel() => First?.Cancel();
}
