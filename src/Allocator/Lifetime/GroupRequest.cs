namespace Allocator.Lifetime;

/// <summary>What is asked for where memory may come in several members.</summary>
internal readonly record struct GroupRequest(long TotalLength, int ElementSizeInBytes)
{
    /// <summary>Gets the elements that no member divides: a member holds a multiple of it.</summary>
    public int ElementAlignment { get; init; } = 1;

    /// <summary>Gets the alignment in bytes that each member begins on.</summary>
    public int AlignmentInBytes { get; init; } = 1;

    /// <summary>Gets whether elements that no segment holds undivided make the memory contiguous, rather than fail.</summary>
    public bool MakeContiguousWhereNeeded { get; init; }
}
