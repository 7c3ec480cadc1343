namespace Allocator.Tests.PublicApi;

public class PublicApiTests
{
    [Fact]
    public void PublicApi_OfTheLibrary_MatchesTheFile() => PublicApiFile.AssertIsOf(typeof(MemoryAllocator).Assembly, "Allocator");
}
