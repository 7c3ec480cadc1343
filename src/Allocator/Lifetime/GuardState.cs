namespace Allocator.Lifetime;

/// <summary>
/// How a guard's state word is read: a reference count, flags, and above them the generation, which grows whenever the memory comes back.
/// A user holds the generation of their rent; any other value in the word says that it is over.
/// </summary>
internal static class GuardState
{
    /// <summary>The owner's own reference, and one for each pin and each running delegate.</summary>
    public const long References = 0xFFFF;

    /// <summary>The owner has been disposed; what still counts are pins and running delegates.</summary>
    public const long Disposed = 1 << 16;

    /// <summary>The owner was collected without <c>Dispose</c>.</summary>
    public const long Abandoned = 1 << 17;

    /// <summary>A further part of a group: out, but not an allocation of its own.</summary>
    public const long Member = 1 << 18;

    private const long GenerationStep = 1 << 20;

    public static long Generation(long state) => state & -GenerationStep;

    /// <summary>The idle state in which the memory is after the rent that <paramref name="state"/> is of.</summary>
    public static long Next(long state) => Generation(state) + GenerationStep;

    public static bool IsIdle(long state) => (state & References) == 0;

    public static bool IsAbandoned(long state) => (state & Abandoned) != 0;

    public static bool IsOutstanding(long state) => !IsIdle(state) && (state & (Abandoned | Member)) == 0;
}
