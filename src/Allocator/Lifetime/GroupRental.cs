namespace Allocator.Lifetime;

/// <summary>What an allocator hands out for a group: the memory, begun, and how it is divided into members.</summary>
internal readonly record struct GroupRental(LifetimeGuard Guard, long Generation, GroupLayout Layout)
{
    /// <summary>
    /// Gets, for each member, where the group would begin if all of it lay where that member does; null where there is one member. The element e of the group, in member m,
    /// is e elements behind the m-th of these: what finds a row need not know where its member begins.
    /// </summary>
    public nint[]? Origins { get; init; }

    /// <summary>Gets whether the members lie one after the other without gap.</summary>
    public bool IsContiguous { get; init; }
}
