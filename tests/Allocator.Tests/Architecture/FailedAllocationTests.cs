using Xunit.Abstractions;

namespace Allocator.Tests.Architecture;

/// <summary>Whichever allocation of the library's own code fails, a wait ends, and the whole budget can be reserved afterwards.</summary>
public class FailedAllocationTests(ITestOutputHelper output)
{
    [Fact]
    public void Waits_AnyAllocationFails_EndAndLoseNothing() =>
        CountedAllocations.Run(FailedAllocations.Run, output, [], typeof(MemoryAllocator));
}
