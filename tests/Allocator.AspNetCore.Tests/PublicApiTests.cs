using Allocator.Tests.PublicApi;

namespace Allocator.AspNetCore.Tests;

public class PublicApiTests
{
    [Fact]
    public void PublicApi_OfThePackage_MatchesTheFile() =>
        PublicApiFile.AssertIsOf(typeof(IMemoryReservationFeature).Assembly, "Allocator.AspNetCore");
}
