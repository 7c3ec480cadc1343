namespace Allocator.AspNetCore.Admission;

/// <summary>The arguments of one call of <c>RequireMemory</c>.</summary>
/// <param name="AllocatorName">The name of the allocator; empty for the one without a name.</param>
/// <param name="Bytes">Estimates what a request takes. Null if that is learned from earlier requests.</param>
/// <param name="Timeout">How long a request waits.</param>
internal sealed record MemoryRequirement(string AllocatorName, Func<HttpContext, ValueTask<long>>? Bytes, TimeSpan Timeout)
{
    /// <summary>Less than proxies and clients usually wait for an answer, and enough for some images to be done.</summary>
    public static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(30);
}
