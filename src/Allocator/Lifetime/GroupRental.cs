namespace Allocator.Lifetime;

/// <summary>What an allocator hands out for a group: the memory, begun, and how it is divided into members.</summary>
internal readonly record struct GroupRental(LifetimeGuard Guard, long Generation, GroupLayout Layout)
{
    /// <summary>Gets where the members are; none where there is one.</summary>
    public MemberOrigins Origins { get; init; }

    /// <summary>Gets whether the members lie one after the other without gap.</summary>
    public bool IsContiguous { get; init; }
}
