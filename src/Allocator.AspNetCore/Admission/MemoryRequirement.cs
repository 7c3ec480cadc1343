namespace Allocator.AspNetCore.Admission;

/// <summary>What a request's reservation is made of.</summary>
internal enum RequirementKind
{
    /// <summary>The needs of the endpoint's earlier requests.</summary>
    Learned,

    /// <summary>The needs of earlier requests of about the same size, which <see cref="MemoryRequirement.Measure"/> returns.</summary>
    LearnedBySize,

    /// <summary>The bytes that <see cref="MemoryRequirement.Measure"/> returns.</summary>
    Bytes,
}

/// <summary>The arguments of one call of <c>RequireMemory</c>.</summary>
/// <param name="AllocatorName">The name of the allocator; empty for the one without a name.</param>
/// <param name="Kind">What the reservation is made of.</param>
/// <param name="Measure">Returns the bytes or the size of a request; null if it needs neither.</param>
/// <param name="Timeout">How long a request waits.</param>
internal sealed record MemoryRequirement(
    string AllocatorName, RequirementKind Kind, Func<HttpContext, ValueTask<long>>? Measure, TimeSpan Timeout)
{
    /// <summary>Less than proxies and clients usually wait for an answer, and enough for some images to be done.</summary>
    public static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(30);
}
