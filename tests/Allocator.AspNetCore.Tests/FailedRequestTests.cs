using Allocator.Tests.Architecture;
using Xunit.Abstractions;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// Whichever allocation of the two libraries' own code fails, a request that waits for memory is answered, and the whole budget can be
/// reserved afterwards.
/// </summary>
public class FailedRequestTests(ITestOutputHelper output)
{
    [Fact]
    public void RequireMemory_AnyAllocationFails_EndsAndLosesNothing() =>
        CountedAllocations.Run(
            FailedRequests.RunAsync, output, [Path.GetDirectoryName(typeof(HttpContext).Assembly.Location)!],
            typeof(MemoryAllocator), typeof(MemoryPageExtensions));
}
